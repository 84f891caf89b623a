pragma circom 2.1.0;

// Proves that a private leaf lies in a Merkle tree with a public root: 15 960 constraints, a domain of 2^14.
//
// FOR DEMONSTRATION ONLY: nobody has analysed this hash. It is built and sized like the MiMC Feistel permutation
// (Albrecht, Grassi, Rechberger, Roy and Tiessen, "MiMC: Efficient Encryption and Cryptographic Hashing with
// Minimal Multiplicative Complexity", 2016), so that the circuit weighs what a real one weighs.
//
// 220 rounds, about twice log_5 of the field's size; round i = 0, 1, ... takes
//     (left, right)  to  (right + left^5 + c_i, left)  with  c_i = (2i + 1)^7.
// The hash of (x, y) starts from left = x, right = y and is the last left + x.

template Hash(rounds) {
    signal input in[2];
    signal output out;

    signal left[rounds + 2]; // left[i + 1] is the left half before round i, left[i] the right half
    signal square[rounds];
    signal fourth[rounds];

    left[0] <== in[1];
    left[1] <== in[0];
    for (var i = 0; i < rounds; i++) {
        square[i] <== left[i + 1] * left[i + 1];
        fourth[i] <== square[i] * square[i];
        left[i + 2] <== fourth[i] * left[i + 1] + left[i] + (2 * i + 1) ** 7;
    }
    out <== left[rounds + 1] + in[0];
}

template MerkleInclusion(depth, rounds) {
    signal input root;
    signal input leaf;
    signal input siblings[depth];   // from the leaf upwards
    signal input directions[depth]; // 1 where the path's node is the right child, else 0

    signal node[depth + 1];
    signal swap[depth];
    component hash[depth];

    node[0] <== leaf;
    for (var i = 0; i < depth; i++) {
        directions[i] * (directions[i] - 1) === 0;
        swap[i] <== directions[i] * (siblings[i] - node[i]);
        hash[i] = Hash(rounds);
        hash[i].in[0] <== node[i] + swap[i];
        hash[i].in[1] <== siblings[i] - swap[i];
        node[i + 1] <== hash[i].out;
    }
    root === node[depth];
}

component main {public [root]} = MerkleInclusion(24, 220);
