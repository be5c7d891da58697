"""A batch in steady state, and what a step made of the chips: against published examples."""

import pytest

from handful import latency, prefill_decode, scenario, serving, shapes

PALM = {"active_parameters": 540e9, "devices": 64, "peak_flops": 275e12}  # on TPU v4


@pytest.mark.parametrize(
    "batch, chips, published",
    [
        # How to Scale Your Model, applied inference: Llama 3 70B on TPU v5e at 8k context, 19 ms a
        # step, answers of 512 tokens; queries a second for each chip.
        (43, 16, 0.27),
        (52, 8, 0.66),
        (67, 4, 1.72),
        (161, 32, 0.51),
    ],
)
def test_requests_a_second_are_those_of_a_worked_example(batch, chips, published):
    found = serving.requests_per_second(batch=batch, step_time=0.019, answer_tokens=512)
    assert found / chips == pytest.approx(published, rel=0.05)


def test_a_prefill_for_every_two_steps():
    """The same: a batch of 240 and answers of 512 tokens take a prompt every two steps or so."""
    assert 1 / serving.sequences_finished(batch=240, answer_tokens=512) == pytest.approx(2, rel=0.1)


def test_a_batch_played_step_by_step():
    """Places are taken again at once; lengths are fixed, and starts are spread evenly."""
    batch, prompt, answer, per_token = 60, 100, 30, 7
    made = [i % answer for i in range(batch)]  # tokens that each place has made of its answer
    contexts, freed, ended, steps = 0, 0, 0, 300
    for _ in range(steps):
        for i in range(batch):
            contexts += prompt + made[i]
            made[i] += 1
            if made[i] == answer:
                freed, ended, made[i] = freed + (prompt + answer) * per_token, ended + 1, 0
    known = dict(
        batch=batch, prompt_tokens=prompt, answer_tokens=answer, kv_bytes_per_token=per_token
    )
    assert serving.sequences_finished(known) == ended / steps == 2
    assert serving.cache_freed(known) == freed / steps
    # Half a token less, since the newest one is not in the context yet.
    assert serving.mean_context(known) == pytest.approx(contexts / steps / batch + 0.5)


def test_several_tokens_a_step_end_answers_sooner():
    known = dict(batch=60, answer_tokens=30, prompt_tokens=5, kv_bytes_per_token=1, step_time=0.5)
    for formula in (serving.sequences_finished, serving.requests_per_second, serving.cache_freed):
        assert formula(known, new_tokens_per_sequence=2) == pytest.approx(2 * formula(known))
    assert serving.requests_per_second(known) == pytest.approx(4)


def test_bandwidth_utilisation_of_the_published_example():
    """Databricks 2023: 7 billion weights of 16 bits in 14 ms are 1 TB/s, half of 2 TB/s."""
    known = dict(total_parameters=7e9, bytes_per_parameter=2, devices=1, memory_bandwidth=2e12)
    known |= dict(kv_bytes_per_token=524_288, context=0, step_time=0.014, batch=1)
    assert serving.bandwidth_utilisation(known) == pytest.approx(0.5)
    # Caches count as well: 14 GB of them double it, and two machines halve it again.
    long = known | {"context": 14e9 / 524_288}
    assert serving.bandwidth_utilisation(long) == pytest.approx(1)
    assert serving.bandwidth_utilisation(long, devices=2) == pytest.approx(0.5)


def test_a_step_at_the_floor_uses_all_of_the_bandwidth():
    """LLaMA 2 13B on eight TPU v5e, in How to Scale Your Model: 12.13 ms at a batch of 8."""
    known = dict(total_parameters=13e9, bytes_per_parameter=2, batch=8, context=8192, devices=8)
    known |= dict(kv_bytes_per_token=819_200, memory_bandwidth=0.82e12)
    assert serving.bandwidth_utilisation(known, step_time=12.13e-3) == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize(
    "batch, seconds, published",
    [
        # Pope et al. 2022, table 2: PaLM 540B on 64 TPU v4, 64 tokens of each sequence.
        (64, 1.82, 0.14),
        (512, 6.0, 0.33),
    ],
)
def test_utilisation_in_decode_is_that_of_the_paper(batch, seconds, published):
    found = serving.decode_flops_utilisation(PALM, batch=batch, step_time=seconds / 64)
    assert found == pytest.approx(published, abs=0.006)
    assert found == pytest.approx(latency.compute_time(PALM, batch=batch) / (seconds / 64))


@pytest.mark.parametrize(
    "batch, seconds, published",
    [
        # The same table: prompts of 2048 tokens, one at a time and 512 together.
        (1, 0.29, 0.43),
        (512, 85.2, 0.76),
    ],
)
def test_utilisation_in_prefill_is_that_of_the_paper(batch, seconds, published):
    # 118 layers of 48 heads with 256 numbers each: attention is a hundredth of the arithmetic.
    known = PALM | {"prefill_attention_flops_per_pair": 4 * 118 * 48 * 256}
    known |= {
        "prompt_tokens": 2048,
        "prompts_together": batch,
        "model_flops_utilisation": published,
    }
    assert prefill_decode.prefill_time(known) == pytest.approx(seconds, rel=0.02)


def test_shapes_give_the_cache_of_llama_2():
    # What the test above takes for LLaMA 2 13B: 40 layers of 40 heads with 128 numbers, key and
    # value of two bytes.
    assert 2 * 40 * 40 * 128 * 2 == 819_200
    assert shapes.attention_flops_per_pair(shapes.shape("Llama 3.1 70B")) == 4 * 80 * 8192


def test_tensor_parallelism_over_two_nodes_waits_for_the_network():
    """By hand: 252 all-reduces of 64 × 16,384 numbers of 2 bytes are 528 MB for every chip.

    Within a node it sends 7/8 of them twice, between two nodes half of an eighth twice.
    """
    served = scenario.values("H100 SXM", "Llama 3.1 405B", "fp8")
    known = served | {"batch": 64, "prompt_per_answer": 0, "scale_up_domains": 2}
    array = 2 * 126 * 64 * 16_384 * 2
    by_hand = 2 * array * (7 / 8 / 450e9 + 1 / 8 / 2 / 50e9)
    found = serving.tensor_parallel_time_across_nodes(known)
    assert found == pytest.approx(by_hand)
    one = serving.tensor_parallel_time_across_nodes(known, scale_up_domains=1)
    assert one == pytest.approx(serving.tensor_parallel_time(known, devices=8))
