pragma circom 2.1.0;

// Proves that somebody knows two factors of a public product: the smallest circuit that there is.

template Multiplier() {
    signal input a;
    signal input b;
    signal output product;

    product <== a * b;
}

component main = Multiplier();
