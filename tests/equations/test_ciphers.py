"""Ciphers, measured: avalanche, differences, and the distinguishers of Luby and Rackoff."""

import math

import numpy as np
import pytest

from handful.ciphers import (
    PRESENT_SBOX,
    avalanche,
    characteristic_weight,
    chosen_ciphertext_share,
    chosen_plaintext_share,
    derivative,
    difference_table,
    likely_characteristic,
    random_functions,
    round_functions,
    share_that_follows,
)
from handful.reversible import FeistelError, decrypt, encrypt


def _both_ways(functions):
    return (lambda x, y: encrypt(x, y, functions)), (lambda x, y: decrypt(x, y, functions))


# Differences


def test_the_published_properties_of_present():
    table = difference_table(PRESENT_SBOX)
    # Bogdanov et al. 2007: no entry above 4, and no single-bit difference becomes a single-bit one.
    assert table[1:].max() == 4 and table[0].tolist() == [16] + [0] * 15
    single = [1, 2, 4, 8]
    assert table[np.ix_(single, single)].sum() == 0
    # Difference 1 becomes 3, 7, 9 or 13, each a quarter of the time.
    assert {int(d) for d in np.flatnonzero(table[1])} == {3, 7, 9, 13}
    assert (table.sum(axis=0) == 16).all() and (table.sum(axis=1) == 16).all()


def test_the_table_of_one_bit():
    # Both maps of one bit are linear: what goes in comes out.
    assert (
        difference_table([0, 1]).tolist() == difference_table([1, 0]).tolist() == [[2, 0], [0, 2]]
    )


def test_a_linear_map_has_one_derivative():
    # Any matrix over GF(2): the derivative is the map itself, at every point.
    columns = np.random.default_rng(3).integers(0, 16, 4)
    linear = [
        int(np.bitwise_xor.reduce(columns[[bool(x >> i & 1) for i in range(4)]])) for x in range(16)
    ]
    table = difference_table(linear)
    for difference in range(16):
        assert table[difference, linear[difference]] == 16
        assert {derivative(linear.__getitem__, x, difference) for x in range(16)} == {
            linear[difference]
        }


@pytest.mark.parametrize("x, y, rounds", [(0, 1, 3), (0, 7, 4), (0x0100, 0, 3), (0x7000, 0, 2)])
def test_probabilities_multiply_through_rounds(x, y, rounds):
    chain, samples = likely_characteristic(x, y, rounds), 200_000
    spread = math.sqrt(chain.probability / samples)
    assert share_that_follows(chain.differences, samples) == pytest.approx(
        chain.probability, abs=5 * spread
    )
    # Every likeliest entry of this S-box is 4 of 16: two bits of weight for each active one.
    weight = characteristic_weight(active_sboxes=chain.active_sboxes, sbox_weight=2)
    assert 2**-weight == pytest.approx(chain.probability)


def test_the_published_weight_of_present():
    # Bogdanov et al. 2007: 25 rounds have at least 50 active S-boxes, hence probability at most
    # 2^-100.
    assert characteristic_weight(active_sboxes=50, sbox_weight=-math.log2(4 / 16)) == 100


# Avalanche


def test_avalanche_from_one_bit_to_a_coin_toss():
    samples = 2000
    shares = avalanche(rounds=9, samples=samples)
    assert (shares[0] == np.eye(32)).all()
    # A bit of y is only carried over in the first round; then no four-bit S-box passes less than
    # one bit on.
    in_y = slice(0, 16)
    assert (shares[1][in_y].sum(axis=1) == 1).all() and (shares[2][in_y].sum(axis=1) >= 2).all()
    mean = shares.mean(axis=(1, 2))
    assert (np.diff(mean[:7]) > 0).all()
    # Strict: each of the 1,024 pairs of bits, within what tossing a coin 2,000 times gives.
    tosses = (shares[9] - 0.5) / math.sqrt(0.25 / samples)
    assert abs(tosses.mean()) < 0.2 and 0.9 < tosses.std() < 1.1 and abs(tosses).max() < 5


def test_each_s_box_sends_a_bit_to_every_s_box():
    # As in PRESENT: of S-box `box`, bit `bit` becomes bit `box` of S-box `bit`.
    f, before = (
        round_functions([np.uint16(0)])[0],
        [PRESENT_SBOX.index(value) for value in range(16)],
    )
    for box in range(4):
        for bit in range(4):
            out_of_boxes = [1 << bit if b == box else 0 for b in range(4)]
            into_boxes = sum(before[value] << 4 * b for b, value in enumerate(out_of_boxes))
            assert f(into_boxes) == 1 << 4 * bit + box


def test_no_rounds_change_nothing():
    assert (avalanche(rounds=0, samples=1) == np.eye(32)).all()
    assert likely_characteristic(0, 1, 0) == ([(0, 1)], 1.0, 0)
    assert random_functions(0) == []


def test_the_toy_cipher_is_undone():
    rng = np.random.default_rng(8)
    functions = round_functions(rng.integers(0, 1 << 16, 12, dtype=np.uint16))
    block = rng.integers(0, 1 << 16, (2, 1000), dtype=np.uint16)
    hidden = encrypt(*block, functions)
    assert (np.array(decrypt(*hidden, functions)) == block).all() and (
        np.array(hidden) != block
    ).any()


# Luby and Rackoff


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_rounds_are_told_apart_and_three_are_not(seed):
    assert chosen_plaintext_share(_both_ways(random_functions(2, seed=seed))[0]) == 1
    assert chosen_plaintext_share(_both_ways(random_functions(3, seed=seed))[0]) < 0.001


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_three_rounds_fall_to_a_decryption_and_four_do_not(seed):
    assert chosen_ciphertext_share(*_both_ways(random_functions(3, seed=seed))) == 1
    assert chosen_ciphertext_share(*_both_ways(random_functions(4, seed=seed))) < 0.001


@pytest.mark.parametrize("bits", [1, 4, 20])
def test_random_functions_know_just_their_bits(bits):
    (f,) = random_functions(1, bits)
    assert set(np.unique(f(np.arange(1 << bits))) >> bits) == {0}
    with pytest.raises(IndexError):
        f(1 << bits)


def _random_permutation(bits, seed):
    there = np.random.default_rng(seed).permutation(1 << 2 * bits)
    back, mask = np.argsort(there), (1 << bits) - 1
    return tuple(
        lambda x, y, table=table: (table[x << bits | y] >> bits, table[x << bits | y] & mask)
        for table in (there, back)
    )


def test_withstanding_looks_like_a_random_permutation():
    # Halves of 8 bits: what passes by chance, once in 256, can be seen, and is the same for both.
    def plain(ciphers):
        return 256 * np.mean([chosen_plaintext_share(there, 8) for there, _ in ciphers])

    def both(ciphers):
        return 256 * np.mean([chosen_ciphertext_share(there, back, 8) for there, back in ciphers])

    permutations = [_random_permutation(8, seed) for seed in range(40)]
    networks = {r: [_both_ways(random_functions(r, 8, seed)) for seed in range(40)] for r in (3, 4)}
    passed = plain(permutations), plain(networks[3]), both(permutations), both(networks[4])
    assert passed == pytest.approx([1] * 4, abs=0.15)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda: difference_table([0, 1, 2]),
            "lists 2, 4, 8, 16, … whole numbers, each from 0 up.*got \\[0, 1, 2\\]",
        ),
        (lambda: difference_table([0, 4, 1, 2]), "got \\[0, 4, 1, 2\\]"),
        (lambda: difference_table([]), "got \\[\\]"),
        (lambda: difference_table([0]), "got \\[0\\]"),
        (lambda: difference_table([0, -1]), "got \\[0, -1\\]"),
        (lambda: difference_table([0.0, 1.0]), "got \\[0.0, 1.0\\]"),
        (lambda: likely_characteristic(1 << 16, 0, 2), "two halves of 16 bits.*got 65536, 0 and 2"),
        (lambda: likely_characteristic(0, 1 << 16, 2), "two halves of 16 bits.*got 0, 65536 and 2"),
        (lambda: likely_characteristic(0, 1, -1), "0 rounds or more; got 0, 1 and -1"),
        (lambda: avalanche(rounds=-1), "0 rounds or more and 1 sample or more; got -1"),
        (lambda: avalanche(rounds=1, samples=0), "1 sample or more; got 1 and 0"),
        (lambda: random_functions(3, bits=0), "1 to 20 bits and 0 rounds or more; got 0"),
        (lambda: random_functions(3, bits=21), "1 to 20 bits and 0 rounds or more; got 21"),
        (lambda: random_functions(-1), "0 rounds or more; got 16 and -1"),
    ],
)
def test_bad_input_gets_one_clear_sentence(call, sentence):
    with pytest.raises(FeistelError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_one_flipped_bit_turns_half_of_the_block_after_six_rounds():
    turned = 32 * avalanche(rounds=8, samples=1000).mean(axis=(1, 2))
    assert all(abs(bits - 16) < 0.2 for bits in turned[6:]) and turned[4] < 15


def test_a_chain_of_differences_is_followed_as_often_as_predicted():
    for rounds in range(1, 5):
        chain, pairs = likely_characteristic(0, 1, rounds), 200_000
        expected = pairs * chain.probability
        assert chain.probability == 0.25**chain.active_sboxes
        counted = pairs * share_that_follows(chain.differences, pairs)
        assert abs(counted - expected) <= 4 * math.sqrt(expected)


def test_every_round_function_of_the_scene_is_undone_and_only_s_boxes_spread():
    from handful_explorers.plotting.scenes import feistel

    rng, keys = np.random.default_rng(5), [11, 222, 3333, 44444, 555, 6666, 77, 8]
    for f in feistel.NAMES:
        v = {"f": f, "keys": keys, "sbox": list(PRESENT_SBOX)}
        for block in rng.integers(0, 1 << 16, (20, 2)).tolist():
            there = feistel.forwards(block, v)
            assert feistel.backwards(there[-1], v)[-1] == block
            if f == "sboxes":
                functions = round_functions(np.array(keys, dtype=np.uint16)[:, None])
                halves = encrypt(*(np.array([half], dtype=np.uint16) for half in block), functions)
                assert [int(half[0]) for half in halves] == there[-1]
            if f == "constant":
                other = feistel.forwards([block[0] ^ 16, block[1]], v)
                assert all(feistel.differing(a, b) <= 4 for a, b in zip(there, other, strict=True))
