"""The accounts of processes that share one memory budget: who holds how much, and who comes next.

Pure: no file, clock or process. `engine.ledger` keeps a book in a file.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass
class Account:
    """One process: what it holds of the budget, and what it waits for.

    budget_bytes is its own setting, which its share never exceeds. While it waits it has a ticket, and waits
    for a share of `wanted_bytes`.
    """

    pid: int
    started: str  # when the process was started: tells it from a later one with the same id
    name: str
    budget_bytes: int
    share_bytes: int = 0
    wanted_bytes: int = 0
    ticket: int | None = None

    @property
    def lacking_bytes(self) -> int:
        """What it waits for beyond what it holds."""
        return 0 if self.ticket is None else max(0, self.wanted_bytes - self.share_bytes)


@dataclass
class Book:
    """All accounts. Shares together never exceed `total_bytes`, the largest budget among those who came.

    First come, first served: what somebody waits for is kept for him before those who ask after him, so
    nobody starves and a process that releases much does not take all of it again.
    """

    total_bytes: int = 0
    tickets: int = 0
    accounts: dict[str, Account] = field(default_factory=dict)

    def open(self, key: str, account: Account) -> None:
        """Enter a process. One that comes back after the book was lost enters what it holds."""
        largest_bytes = account.budget_bytes
        self.total_bytes = max(self.total_bytes, largest_bytes) if self.accounts else largest_bytes
        self.accounts[key] = account

    def resize(self, key: str, budget_bytes: int) -> None:
        """A process goes on with another budget; what it holds beyond that it has yet to give back."""
        self.accounts[key].budget_bytes = budget_bytes
        self.total_bytes = max(self.total_bytes, budget_bytes) if len(self.accounts) > 1 else budget_bytes

    def close(self, key: str) -> None:
        """Strike a process out; its share is free."""
        self.accounts.pop(key, None)

    def drop(self, is_gone: Callable[[Account], bool]) -> list[Account]:
        """Strike out those that are gone, and return them."""
        gone = {key: account for key, account in self.accounts.items() if is_gone(account)}
        for key in gone:
            self.close(key)
        return list(gone.values())

    def pass_over(self, is_suspended: Callable[[Account], bool]) -> None:
        """Let those wait no longer who could not take what is kept for them; they ask again later."""
        for key, account in self.accounts.items():
            if account.ticket is not None and is_suspended(account):
                self.withdraw(key)

    def ask(self, key: str, least_bytes: int, most_bytes: int) -> int:
        """A share between the two, as large as can be; else the old one, and a ticket. Returns the share."""
        account = self.accounts[key]
        assert account.share_bytes < least_bytes <= account.budget_bytes, f"{account} asks for {least_bytes}"
        possible_bytes = account.share_bytes + self._free_for(account)
        if possible_bytes < least_bytes:
            if account.ticket is None:
                self.tickets += 1
                account.ticket = self.tickets
            account.wanted_bytes = least_bytes
        else:
            account.share_bytes = min(most_bytes, possible_bytes, account.budget_bytes)
            self.withdraw(key)
        return account.share_bytes

    def take(self, key: str, most_bytes: int) -> int:
        """As much as there is up to a share of `most_bytes`, without waiting. Returns the share."""
        account = self.accounts[key]
        possible_bytes = account.share_bytes + max(0, self._free_for(account))
        account.share_bytes = max(account.share_bytes, min(most_bytes, possible_bytes, account.budget_bytes))
        return account.share_bytes

    def give_back(self, key: str, share_bytes: int) -> None:
        """Keep only so much."""
        account = self.accounts[key]
        assert 0 <= share_bytes <= account.share_bytes, f"{account} gives back to {share_bytes}"
        account.share_bytes = share_bytes

    def withdraw(self, key: str) -> None:
        """Wait no longer."""
        account = self.accounts[key]
        account.ticket, account.wanted_bytes = None, 0

    def others(self, key: str) -> list[Account]:
        """Everybody else."""
        return [account for each, account in self.accounts.items() if each != key]

    @property
    def free_bytes(self) -> int:
        """What nobody holds; below 0 only where a lost book was written anew with other budgets."""
        return self.total_bytes - sum(account.share_bytes for account in self.accounts.values())

    def _free_for(self, account: Account) -> int:
        return self.free_bytes - sum(each.lacking_bytes for each in self._before(account))

    def _before(self, account: Account) -> Iterable[Account]:
        for each in self.accounts.values():
            if each.ticket is not None and (account.ticket is None or each.ticket < account.ticket):
                yield each
