pragma circom 2.2.0;

// Small, but with one of everything: outputs, a public input, buses, arrays, a wire that no constraint uses, an
// assert and a log.

bus Pair() {
    signal left;
    signal right;
}

template Sample() {
    signal input factors[2][2];
    signal input limit;
    signal input unused;
    input Pair() pairs[2];
    signal output product;
    signal output total;

    signal partial[2];
    for (var i = 0; i < 2; i++) {
        partial[i] <== factors[i][0] * factors[i][1];
    }
    product <== partial[0] * partial[1];
    total <== pairs[0].left * pairs[0].right + 3 * pairs[1].left - pairs[1].right;
    log("total", total);
    assert(product != 13);
    limit * limit === partial[0] + partial[1];
}

component main {public [limit]} = Sample();
