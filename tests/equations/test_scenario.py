"""Rows to values of symbols, for Python and the page alike."""

import itertools
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import facts, scenario, shapes
from handful.scenario import ScenarioError, notes, page_rows, values

ROWS = page_rows()
HARDWARE = [row["name"] for row in ROWS["hardware"]]
MODELS = [row["name"] for row in ROWS["model"]]
OF_EXPERTS = (
    "expert_layers",
    "expert_parameters",
    "expert_width",
    "dispatch_bytes",
    "combine_bytes",
)


def test_rows_are_strict_json_with_the_fields_that_the_page_reads():
    rows = json.loads(json.dumps(ROWS, allow_nan=False))
    assert rows["default"] == {
        "hardware": "GB200 NVL72",
        "model": "DeepSeek-V3",
        "precision": "fp8",
        "context": 8192,
    }
    for row in rows["hardware"]:
        assert {"name", "label", "verified", "values", "peak_flops", "source"} <= set(row)
        assert set(row["values"]) == {
            "chip_power",
            "memory_bandwidth",
            "memory_capacity",
            "devices",
            "device_price",
            "domain_devices",
            "scale_up_bandwidth",
            "scale_out_bandwidth",
        }
        assert "bf16" in row["peak_flops"] and set(row["peak_flops"]) <= {
            "bf16",
            "fp8",
            "fp4",
            "int8",
        }
    for row in rows["model"]:
        assert set(row["values"]) == {
            "total_parameters",
            "active_parameters",
            "routed_parameters",
            "experts",
            "active_experts",
            "attention_flops_per_pair",
            "prefill_attention_flops_per_pair",
            "layers",
            "d_model",
            "attention_heads",
            "kv_heads",
            "head_width",
            "value_width",
            "query_latent_width",
            "kv_latent_width",
            "rotary_width",
            "d_ff",
            "feed_forward_matrices",
            "window_tokens",
            *OF_EXPERTS,
        }
        assert {"kv_elements_per_token", "kv_window_elements", "max_context", "source"} <= set(row)
    for row in rows["precision"]:
        assert {
            "name",
            "label",
            "arithmetic",
            "bytes_per_parameter",
            "kv_bytes_per_element",
        } <= set(row)
    for kind in ("hardware", "model", "precision"):
        names = [row["name"] for row in rows[kind]]
        assert len(set(names)) == len(names) and rows["default"][kind] in names


def test_names_that_pages_use():
    for name in (
        "A100 80GB",
        "H100 SXM",
        "H200 SXM",
        "B200 SXM",
        "GB200 NVL72",
        "B300 SXM",
        "GB300 NVL72",
        "Vera Rubin NVL72",
        "MI300X",
        "MI355X",
        "TPU v5e",
        "TPU v5p",
        "TPU v6e",
        "TPU7x",
    ):
        assert name in HARDWARE
    for name in (
        "Llama 3.1 8B",
        "Llama 3.1 70B",
        "Llama 3.1 405B",
        "Mixtral 8x7B",
        "Qwen3 235B-A22B",
        "DeepSeek-V3",
        "Kimi K2",
        "gpt-oss-120b",
        "Gemma 2 27B",
    ):
        assert name in MODELS


def test_default_values():
    v = values()
    assert (
        v["total_parameters"] == 671_026_419_200 and v["routed_parameters"] < v["total_parameters"]
    )
    assert (v["experts"], v["active_experts"], v["devices"], v["context"]) == (256, 8, 72, 8192)
    assert (
        v["peak_flops"] == 5e15 and v["memory_bandwidth"] == 8e12 and v["bytes_per_parameter"] == 1
    )
    assert v["kv_bytes_per_token"] == 61 * 576 and v["window_cache_memory"] == 0
    assert v["device_price"] == pytest.approx(3.30 / 3600)
    assert (v["flops_per_multiply_add"], v["one_token"], v["new_tokens_per_sequence"]) == (2, 1, 1)
    # 300 as the lecture counts it: multiplies x bytes per weight / bandwidth
    assert v["peak_flops"] * v["bytes_per_parameter"] / 2 / v["memory_bandwidth"] == pytest.approx(
        312, abs=1
    )


@pytest.mark.parametrize("hardware", HARDWARE)
def test_every_choice_gives_finite_values_or_says_what_the_chip_has(hardware):
    for model, form in itertools.product(MODELS, ROWS["precision"]):
        [chip] = [row for row in ROWS["hardware"] if row["name"] == hardware]
        if form["arithmetic"] not in chip["peak_flops"]:
            sentence = f"^{hardware} has no {form['arithmetic']} arithmetic; it has bf16"
            with pytest.raises(ScenarioError, match=sentence):
                values(hardware, model, form["name"])
            continue
        v = values(hardware, model, form["name"])
        assert all(value is None or (math.isfinite(value) and value >= 0) for value in v.values())
        assert v["active_parameters"] <= v["total_parameters"]
        s = shapes.shape(model)
        assert (
            v["kv_bytes_per_token"]
            == shapes.kv_elements_per_token(s) * form["kv_bytes_per_element"]
        )
        assert (
            v["window_cache_memory"] == shapes.kv_window_elements(s) * form["kv_bytes_per_element"]
        )


def test_dense_models_have_one_expert_that_is_not_routed():
    v = values(model="Llama 3.1 70B")
    assert (v["experts"], v["active_experts"], v["routed_parameters"]) == (1, 1, 0)
    assert v["active_parameters"] == v["total_parameters"]


def test_shapes_and_wires_are_the_published_ones():
    """The shapes are those of DeepSeek-V3, the wires those of a GB200 rack and an H100 node.

    DeepSeek-V3: 61 layers, the first 3 dense, width 7168, 128 heads, experts of three 7168 × 2048
    matrices. A GB200 rack: 72 chips, NVLink 1.8 TB/s both ways together, 400 Gb/s a port. An H100
    node: 8 chips, 900 GB/s.
    """
    v = values("GB200 NVL72", "DeepSeek-V3")
    assert (v["layers"], v["expert_layers"], v["d_model"], v["attention_heads"]) == (
        61,
        58,
        7168,
        128,
    )
    assert v["expert_parameters"] == 3 * 7168 * 2048 and (
        v["dispatch_bytes"],
        v["combine_bytes"],
    ) == (1, 2)
    assert (v["domain_devices"], v["scale_up_bandwidth"], v["scale_out_bandwidth"]) == (
        72,
        1.8e12 / 2,
        400e9 / 8,
    )
    v = values("H100 SXM", "Mixtral 8x7B")
    assert (v["domain_devices"], v["scale_up_bandwidth"], v["scale_out_bandwidth"]) == (
        8,
        900e9 / 2,
        400e9 / 8,
    )
    assert v["expert_layers"] == v["layers"] == 32


@pytest.mark.parametrize("model", MODELS)
def test_experts_add_up_or_are_none(model):
    v = values(model=model)
    if v["routed_parameters"]:
        assert v["expert_layers"] * v["experts"] * v["expert_parameters"] == v["routed_parameters"]
        assert v["expert_layers"] <= v["layers"]
    else:
        assert [v[name] for name in OF_EXPERTS] == [None] * len(OF_EXPERTS)


def test_int8_weights_halve_the_balance():
    """Weights in one byte with bf16 arithmetic take half the multiplies per byte.

    They are compared with all-bf16 or all-fp8.
    """
    balance = {}
    for precision in ("bf16", "fp8", "int8-weights"):
        v = values(hardware="H100 SXM", model="Llama 3.1 8B", precision=precision)
        balance[precision] = v["peak_flops"] * v["bytes_per_parameter"] / v["memory_bandwidth"]
    assert balance["fp8"] == pytest.approx(balance["bf16"], rel=0.001)
    assert balance["int8-weights"] == balance["bf16"] / 2


def test_tpus_serve_in_slices():
    for row in ROWS["hardware"]:
        domain = facts.get("accelerators", row["name"])["scaleup_domain_chips"]
        assert row["values"]["devices"] == (16 if row["name"].startswith("TPU") else domain)


def test_a_chip_without_a_price():
    assert (
        values(hardware="TPU v5e", model="Llama 3.1 8B", precision="bf16")["device_price"] is None
    )
    assert notes("TPU v5e", "Llama 3.1 8B", "bf16") == [
        "No price per hour was found for TPU v5e, so costs need a rent of yours."
    ]
    assert notes("TPU v5e", "Llama 3.1 8B", "bf16", device_price=1.2 / 3600) == []


# Notes


def plain(sentences):
    return [sentence.replace("\xa0", " ") for sentence in sentences]


def test_notes():
    assert notes() == []
    assert plain(notes("H100 SXM", "DeepSeek-V3", "bf16")) == [
        "DeepSeek-V3 in bf16 takes 1.34 TB; 8 × H100 SXM hold 640 GB, so it does not fit: "
        "read the numbers as if memory were larger."
    ]
    [note] = plain(notes(context=1e6))
    assert "beyond" in note and "DeepSeek-V3" in note
    assert any("Vera Rubin NVL72 were announced" in note for note in notes("Vera Rubin NVL72"))


def test_notes_follow_overrides():
    assert plain(notes("H100 SXM", "DeepSeek-V3", "bf16", devices=32)) == [
        "32 × H100 SXM are more than one scale-up domain of 8 chips: what they send each other "
        "goes over a slower network, which is not counted here."
    ]
    assert len(notes(devices=1)) == 1


def test_weights_may_fit_and_a_sequence_not():
    assert plain(notes("GB200 NVL72", "DeepSeek-V3", "fp8", 131072, devices=4)) == []
    [note] = plain(notes("GB200 NVL72", "DeepSeek-V3", "fp8", 131072, memory_capacity=9.35e9))
    assert (
        note
        == "Weights and one sequence take 676 GB; 72 × GB200 NVL72 hold 673 GB, so not one fits."
    )


def test_rules_use_names_that_the_page_knows():
    known = set(values()) | {"max_context"}

    def names(tree):
        if not isinstance(tree, list):
            return {tree} - {1, -1}
        return set().union(*map(names, tree[1:]))

    own = {rule["name"] for rule in ROWS["rules"]}
    assert {rule["unless"] for rule in ROWS["rules"] if "unless" in rule} <= own

    for rule in ROWS["rules"]:
        for side in ("left", "right"):
            assert names(rule[side]) <= known if side in rule else True
        assert ("left" in rule) + ("missing" in rule) + ("verified" in rule) == 1


# Bad input


@pytest.mark.parametrize(
    "choice, sentence",
    [
        ({"hardware": "A100"}, "'A100' is the beginning of several names: A100 40GB and A100 80GB"),
        (
            {"hardware": "GB20 NVL72"},
            "There is no hardware 'GB20 NVL72'; the nearest are: .*GB200 NVL72",
        ),
        (
            {"model": "deepseek-ai/DeepSeek-V2"},
            "There is no model 'deepseek-ai/DeepSeek-V2'; the nearest are: DeepSeek-V3",
        ),
        ({"precision": "int8"}, "There is no precision 'int8'; the nearest are: int8-weights"),
        (
            {"hardware": "H100 SXM", "precision": "fp4"},
            "H100 SXM has no fp4 arithmetic; it has bf16, fp8 and int8, so the precisions allowed "
            "are bf16, fp8 an",
        ),
        ({"hardware": "A100 80GB"}, "A100 80GB has no fp8 arithmetic; it has bf16 and int8"),
        ({"memory_bandwidth": 0}, "memory_bandwidth must be a number above 0; got 0"),
        (
            {"memory_bandwidth": -1e12},
            "memory_bandwidth must be a number above 0; got -1000000000000.0",
        ),
        ({"batch": -4}, "batch must be a number above 0; got -4"),
        ({"peak_flops": math.nan}, "peak_flops must be a number above 0; got nan"),
        ({"devices": math.inf}, "devices must be a number above 0; got inf"),
        ({"device_price": "2"}, "device_price must be a number above 0; got '2'"),
        ({"context": -1}, "context must be a number from 0 up; got -1"),
        ({"devices": True}, "devices must be a number above 0; got True"),
        (
            {"active_parameters": 1e12},
            r"active_parameters must be at most total_parameters \(6.71026e.11\); got 1e.12",
        ),
        ({"active_experts": 300}, r"active_experts must be at most experts \(256\); got 300"),
        (
            {"memory_bandwith": 1e12},
            "A scenario has no value 'memory_bandwith'; the nearest are: memory_bandwidth",
        ),
    ],
)
def test_bad_input_gets_one_sentence(choice, sentence):
    with pytest.raises(ScenarioError, match="^" + sentence) as caught:
        values(**choice)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_each_name_is_offered_once():
    with pytest.raises(ScenarioError) as caught:
        values(batch=4, xyz=1)
    offered = re.search("the nearest are: (.*)[.]$", str(caught.value))[1].split(", ")
    assert len(set(offered)) == len(offered) and {"context", "batch", *values()} == set(offered)


def test_zero_is_allowed_where_it_means_something():
    v = values(context=0, kv_bytes_per_token=0, attention_flops_per_pair=0, routed_parameters=0)
    assert v["context"] == 0 and v["kv_bytes_per_token"] == 0


# Names of checkpoints as they are published, with the row, arithmetic and weights of each.
CHECKPOINTS = """
meta-llama/Llama-3.3-70B-Instruct                       | Llama 3.1 70B          | bf16 | -
RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic             | Llama 3.1 70B          | fp8  | -
RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8                | Llama 3.1 70B          | fp8  | -
RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic        | Llama 3.1 70B          | fp8  | -
meta-llama/Meta-Llama-3.1-8B-Instruct                   | Llama 3.1 8B           | bf16 | -
meta-llama/Meta-Llama-3-8B-Instruct                     | Llama 3.1 8B           | bf16 | -
meta-llama/Llama-3.1-405B-Instruct-FP8                  | Llama 3.1 405B         | fp8  | -
nvidia/Llama-3.1-405B-Instruct-FP4                      | Llama 3.1 405B         | bf16 | fp4
amd/Llama-3.1-405B-Instruct-FP8-KV                      | Llama 3.1 405B         | fp8  | -
amd/Llama-3.3-70B-Instruct-MXFP4-Preview                | Llama 3.1 70B          | bf16 | fp4
neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8  | Llama 3.1 70B          | fp8  | int8
RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16     | Llama 3.1 8B           | bf16 | int4
hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4     | Llama 3.1 70B          | bf16 | int4
unsloth/Llama-3.3-70B-Instruct-bnb-4bit                 | Llama 3.1 70B          | bf16 | int4
deepseek-ai/DeepSeek-R1-Distill-Llama-70B               | Llama 3.1 70B          | bf16 | -
TheBloke/Llama-2-70B-Chat-GPTQ                          | Llama 2 70B            | bf16 | int4
meta-llama/Llama-2-70b-chat-hf                          | Llama 2 70B            | bf16 | -
mistralai/Mistral-7B-Instruct-v0.2                      | Mistral 7B v0.2        | bf16 | -
mistralai/Mixtral-8x7B-Instruct-v0.1                    | Mixtral 8x7B           | bf16 | -
Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4                     | Qwen2.5 72B            | bf16 | int4
Qwen/Qwen2.5-72B-Instruct-GPTQ-Int8                     | Qwen2.5 72B            | bf16 | int8
Qwen/Qwen2.5-72B-Instruct-AWQ                           | Qwen2.5 72B            | bf16 | int4
Qwen/Qwen3-30B-A3B                                      | Qwen3 30B-A3B          | bf16 | -
Qwen/Qwen3-32B-FP8                                      | Qwen3 32B              | fp8  | -
Qwen/Qwen3-235B-A22B-Instruct-2507-FP8                  | Qwen3 235B-A22B        | fp8  | -
Qwen/Qwen3-235B-A22B-Thinking-2507                      | Qwen3 235B-A22B        | bf16 | -
Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8                 | Qwen3-Coder 480B-A35B  | fp8  | -
openai/gpt-oss-120b                                     | gpt-oss-120b           | bf16 | fp4
openai/gpt-oss-20b                                      | gpt-oss-20b            | bf16 | fp4
unsloth/gpt-oss-120b-BF16                               | gpt-oss-120b           | bf16 | -
deepseek-ai/DeepSeek-V3-0324                            | DeepSeek-V3            | fp8  | -
deepseek-ai/DeepSeek-V3-Base                            | DeepSeek-V3            | fp8  | -
deepseek-ai/DeepSeek-V3.1-Terminus                      | DeepSeek-V3            | fp8  | -
deepseek-ai/DeepSeek-R1-0528                            | DeepSeek-V3            | fp8  | -
nvidia/DeepSeek-R1-0528-NVFP4-v2                        | DeepSeek-V3            | bf16 | fp4
moonshotai/Kimi-K2-Instruct-0905                        | Kimi K2                | fp8  | -
moonshotai/Kimi-K2-Thinking                             | Kimi K2                | bf16 | int4
moonshotai/Kimi-K2.5                                    | Kimi K2                | bf16 | int4
zai-org/GLM-4.5-Air-FP8                                 | GLM-4.5-Air            | fp8  | -
zai-org/GLM-4.5                                         | GLM-4.5                | bf16 | -
MiniMaxAI/MiniMax-M2.5                                  | MiniMax-M2.5           | fp8  | -
google/gemma-3-27b-it                                   | Gemma 3 27B            | bf16 | -
RedHatAI/gemma-3-27b-it-FP8-dynamic                     | Gemma 3 27B            | fp8  | -
"""


@pytest.mark.parametrize("line", CHECKPOINTS.strip().splitlines())
def test_a_checkpoints_name_says_its_model_and_its_precision(line):
    name, row, form, weights = (part.strip() for part in line.split("|"))
    assert scenario.choose("model", name)["name"] == row
    found = scenario.stored_precision(name, "H100 SXM")  # which has no fp4 arithmetic
    assert found[:2] == (form, None if weights == "-" else weights)


def test_a_precision_that_a_chip_has_is_used():
    assert scenario.stored_precision("nvidia/Llama-3.1-405B-Instruct-FP4", "B200 SXM")[0] == "fp4"
    assert scenario.stored_precision("Qwen3-32B-FP8", "A100 80GB")[:2] == ("bf16", "fp8")


@pytest.mark.parametrize("name", ["DeepSeek-V2", "DeepSeek-V3-Lite", "Llama-3.2-3B", "Qwen3-14B"])
def test_a_model_of_another_shape_is_none_of_the_rows(name):
    with pytest.raises(ScenarioError, match="There is no model"):
        scenario.choose("model", name)


def test_names_match_whatever_their_capitals():
    assert values("h100 sxm", "deepseek-v3", "FP8") == values("H100 SXM", "DeepSeek-V3", "fp8")


ORDERED = {
    "active_parameters",
    "active_experts",
    "routed_parameters",
    "experts",
    "total_parameters",
}


@given(st.sampled_from(sorted(set(values()) - ORDERED)), st.floats(1e-3, 1e18))
def test_an_override_replaces_one_value_only(name, value):
    changed, plain_values = values(**{name: value}), values()
    assert changed.pop(name) == value
    plain_values.pop(name)
    assert changed == plain_values


def test_precision_rows_are_in_a_known_order():
    assert [row["name"] for row in scenario.PRECISIONS] == ["bf16", "fp8", "fp4", "int8-weights"]
