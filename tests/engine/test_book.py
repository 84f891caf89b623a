"""Shares never exceed the total, nobody starves, and everybody gets what is free."""

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.book import Account, Book

NAMES = ("a", "b", "c")


def account(name: str, budget_bytes: int = 100) -> Account:
    return Account(1, "then", name, budget_bytes)


def book_of(**budgets: int) -> Book:
    book = Book()
    for name, budget_bytes in budgets.items():
        book.open(name, account(name, budget_bytes))
    return book


def test_a_share_is_as_large_as_there_is_between_what_is_wanted_and_needed() -> None:
    book = book_of(a=100, b=100)
    assert book.ask("a", 60, 90) == 90
    assert book.ask("b", 5, 50) == 10
    assert book.free_bytes == 0


def test_what_one_waits_for_is_kept_from_those_who_come_later() -> None:
    book = book_of(a=100, b=100, c=100)
    assert book.ask("a", 80, 80) == 80
    assert book.ask("b", 50, 50) == 0
    book.give_back("a", 60)
    assert book.ask("c", 10, 10) == 0  # 40 are free, and b is before
    assert book.take("a", 100) == 60
    book.give_back("a", 50)
    assert book.ask("b", 50, 60) == 50
    book.give_back("a", 30)
    assert book.ask("c", 10, 30) == 20


def test_the_ends_of_those_who_waited_before_let_the_next_go_on() -> None:
    book = book_of(a=100, b=100, c=100)
    book.ask("a", 80, 80)
    book.ask("b", 100, 100)
    assert book.ask("c", 20, 20) == 0
    assert book.drop(lambda each: each.name == "b") == [Account(1, "then", "b", 100, 0, 100, 1)]
    assert book.ask("c", 20, 20) == 20


def test_each_keeps_to_its_own_budget_and_all_to_the_largest() -> None:
    book = book_of(small=10, large=100)
    assert book.take("small", 50) == 10
    assert book.ask("large", 20, 100) == 90
    book.close("large")
    assert book.total_bytes == 100
    book.close("small")
    book.open("next", account("next", 10))
    assert book.total_bytes == 10


class Processes(RuleBasedStateMachine):
    """Three that come, ask, give back and go as they like."""

    @initialize()
    def begin(self) -> None:
        self.book = Book()
        self.wants: dict[str, int] = {}

    @rule(name=st.sampled_from(NAMES), budget_bytes=st.integers(1, 40))
    def come(self, name: str, budget_bytes: int) -> None:
        if name not in self.book.accounts:
            self.book.open(name, account(name, budget_bytes))

    @rule(data=st.data(), name=st.sampled_from(NAMES), more=st.integers(0, 40))
    def ask(self, data: st.DataObject, name: str, more: int) -> None:
        mine = self.book.accounts.get(name)
        if mine is None or mine.share_bytes == mine.budget_bytes:
            return
        least_bytes = data.draw(st.integers(mine.share_bytes + 1, mine.budget_bytes))
        before_bytes, free_bytes = mine.share_bytes, self.book.free_bytes
        alone = not any(each.ticket is not None for each in self.book.others(name))
        share_bytes = self.book.ask(name, least_bytes, least_bytes + more)
        assert share_bytes == before_bytes or least_bytes <= share_bytes <= least_bytes + more
        if alone:
            assert (share_bytes > before_bytes) == (least_bytes - before_bytes <= free_bytes)

    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def give_back(self, data: st.DataObject, name: str) -> None:
        if name in self.book.accounts:
            held_bytes = self.book.accounts[name].share_bytes
            self.book.give_back(name, data.draw(st.integers(0, held_bytes)))

    @rule(name=st.sampled_from(NAMES), most_bytes=st.integers(0, 50))
    def take(self, name: str, most_bytes: int) -> None:
        if name in self.book.accounts:
            self.book.take(name, most_bytes)

    @rule(name=st.sampled_from(NAMES), change=st.sampled_from(["withdraw", "close"]))
    def go(self, name: str, change: str) -> None:
        if name in self.book.accounts:
            getattr(self.book, change)(name)

    @precondition(lambda self: any(each.ticket is not None for each in self.book.accounts.values()))
    @rule()
    def the_first_who_waits_gets_it_once_the_others_let_go(self) -> None:
        waiting = {key: each for key, each in self.book.accounts.items() if each.ticket is not None}
        first = min(waiting, key=lambda key: waiting[key].ticket or 0)
        for other in self.book.accounts:
            if other != first:
                self.book.give_back(other, 0)
                self.book.take(other, 50)  # greedy ones get no more than is left over
        wanted_bytes = waiting[first].wanted_bytes
        if wanted_bytes > waiting[first].share_bytes:
            assert self.book.ask(first, wanted_bytes, wanted_bytes) == wanted_bytes

    @invariant()
    def shares_keep_to_the_budgets(self) -> None:
        for each in self.book.accounts.values():
            assert 0 <= each.share_bytes <= each.budget_bytes
        assert self.book.free_bytes >= 0


TestProcesses = Processes.TestCase
TestProcesses.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)


def test_a_budget_that_changes_counts_from_then_on() -> None:
    book = Book()
    book.open("a", Account(1, 0.0, "a", 10))
    book.resize("a", 6)
    assert (book.take("a", 10), book.total_bytes) == (6, 6)
    book.open("b", Account(2, 0.0, "b", 8))
    book.resize("a", 4)
    assert (book.accounts["a"].share_bytes, book.total_bytes) == (6, 8)  # it has yet to give back
    book.resize("a", 20)
    assert (book.take("a", 20), book.total_bytes) == (20, 20)
