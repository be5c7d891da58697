"""Tests of a reader's own model and chip.

Counts equal Python's, and the whole book follows the scenario.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from dataclasses import MISSING, fields
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import handful_site
from handful import facts, latency, scenario, shapes
from handful.units import format_value
from handful_site import bootstrap
from handful_site.extensions.custom_scenario import start_shapes
from soup import starts_from

pytestmark = pytest.mark.browser
LIBRARY = Path(handful_site.__file__).parents[1]
COUNTED = [row for row in facts.load("shapes") if not row["compressed_layers"]]
USUAL = {f.name: f.default for f in fields(shapes.Shape) if f.default is not MISSING}

# As published, but for what changes no count.
LLAMA = {
    "model_type": "llama",
    "hidden_size": 8192,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "intermediate_size": 28672,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "max_position_embeddings": 131072,
    "attention_bias": False,
    "hidden_act": "silu",
    "rope_theta": 500000.0,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 129280,
    "topk_method": "noaux_tc",
    "num_nextn_predict_layers": 1,
    "tie_word_embeddings": False,
    "quantization_config": {"fmt": "e4m3"},
}
GPT_OSS = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "num_hidden_layers": 36,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 2880,
    "num_local_experts": 128,
    "num_experts_per_tok": 4,
    "vocab_size": 201088,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
    "attention_bias": True,
    "tie_word_embeddings": False,
}
GEMMA = {
    "model_type": "gemma2",
    "hidden_size": 4608,
    "num_hidden_layers": 46,
    "num_attention_heads": 32,
    "num_key_value_heads": 16,
    "head_dim": 128,
    "intermediate_size": 36864,
    "vocab_size": 256000,
    "sliding_window": 4096,
    "hidden_act": "gelu_pytorch_tanh",
}
QWEN = {
    "model_type": "qwen3_moe",
    "hidden_size": 4096,
    "num_hidden_layers": 94,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "vocab_size": 151936,
    "tie_word_embeddings": False,
    "sliding_window": None,
    "use_sliding_window": False,
    "max_window_layers": 94,
}
CONFIGS = {
    "Llama 3.1 70B": LLAMA,
    "DeepSeek-V3": DEEPSEEK,
    "gpt-oss-120b": GPT_OSS,
    "Gemma 2 27B": GEMMA,
    "Qwen3 235B-A22B": QWEN,
}


def numbers(s: shapes.Shape) -> dict:
    row = scenario.model_row(s)
    return {
        "parts": shapes.breakdown(s),
        **{k: v for k, v in row.items() if k not in ("name", "label", "source")},
    }


def plain(s: shapes.Shape) -> dict:
    return {
        f.name: getattr(s, f.name)
        for f in fields(s)
        if f.name not in ("name", "compressed_layers", "notes")
    }


def some_shape(rng: random.Random) -> shapes.Shape:
    layers, groups, kv = rng.randint(1, 130), rng.choice([1, 2, 5, 8, 16]), rng.randint(1, 16)
    given = dict(
        layers=layers,
        d_model=rng.randint(64, 20000),
        heads=kv * groups,
        kv_heads=kv,
        head_dim=rng.randint(16, 512),
        vocab=rng.randint(100, 300000),
        ffn_dim=rng.randint(1, 80000),
        tied_embeddings=rng.random() < 0.5,
        gated=rng.random() < 0.7,
        attention_bias=rng.choice(["none", "qkv", "all"]),
        qk_norm=(qk_norm := rng.random() < 0.5),
        qk_norm_whole=qk_norm and rng.random() < 0.5,
        attention_sinks=rng.random() < 0.3,
        ffn_bias=rng.random() < 0.3,
        norms_per_layer=rng.randint(0, 4),
        norm_bias=rng.random() < 0.3,
        learned_positions=rng.choice([0, 2048]),
        max_context=rng.choice([0, 4096]),
    )
    if rng.random() < 0.5:
        experts = rng.randint(1, 400)
        given |= dict(
            routed_experts=experts,
            active_experts=rng.randint(1, experts),
            shared_experts=rng.randint(0, 3),
            shared_gate=rng.random() < 0.3,
            expert_dim=rng.randint(1, 9000),
            dense_layers=rng.randint(0, layers - 1),
            router_bias=rng.random() < 0.5,
        )
    if rng.random() < 0.3:
        rope, nope = rng.randint(0, 128), rng.randint(1, 256)
        given |= dict(
            kv_lora_rank=rng.randint(1, 1024),
            q_lora_rank=rng.choice([0, 1536]),
            rope_dim=rope,
            nope_dim=nope,
            v_head_dim=rng.randint(1, 256),
            kv_heads=given["heads"],
            head_dim=rope + nope,
        )
        if rng.random() < 0.5:
            given |= dict(
                indexer_heads=rng.randint(1, 128),
                indexer_dim=rng.randint(1, 256),
                indexer_layers=rng.choice([None, rng.randint(0, layers)]),
            )
    elif rng.random() < 0.5:
        given |= dict(
            full_attention_layers=rng.randint(0, layers),
            window_tokens=rng.randint(1, 8192),
            layers_per_kv=rng.choice([1, 2, 3]),
        )
    return shapes.Shape(name="random", **given)


def bundle(script: Path, folder: Path) -> None:
    """Write a module and what it imports, tables of JSON included, into one of the same name."""
    esbuild = bootstrap.ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"
    subprocess.run(
        [
            *bootstrap.node_command(),
            str(esbuild),
            str(script),
            "--bundle",
            "--format=esm",
            "--log-level=error",
            f"--outfile={folder / script.name}",
        ],
        check=True,
    )


@pytest.fixture(scope="module")
def modules(module_server, shared):
    """Open a page under the strict policy that can import the modules as they are."""
    folder, address = module_server
    for name in (
        "handful_explorers/web/shapes.js",
        "handful_explorers/web/custom_scenario.js",
        "handful_explorers/web/units.js",
        "handful_site/favicon.svg",
    ):
        shutil.copy(LIBRARY / name, folder)
    bundle(LIBRARY / "handful_site/web/model_config.js", folder)
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><title>shapes</title><link rel="icon" href="favicon.svg">'
        "</html>",
        "utf-8",
    )
    tab = shared()
    yield tab.open(address)
    assert tab.faults == []


COUNT = """async (list) => {
  const { breakdown, modelRow, shape } = await import("./shapes.js");
  return list.map((given) => ({ parts: breakdown(shape(given)), ...modelRow(shape(given)) }));
}"""


def test_every_shape_on_file_counts_the_same(modules):
    assert len(COUNTED) > 20
    every = [shapes.of_row(row) for row in COUNTED]
    assert modules.evaluate(COUNT, [plain(s) for s in every]) == [numbers(s) for s in every]
    # and from what differs from a plain shape alone, which is what the form starts from
    starts = start_shapes()
    assert modules.evaluate(COUNT, list(starts.values())) == [
        numbers(shapes.shape(name)) for name in starts
    ]


def test_random_shapes_count_the_same(modules):
    rng = random.Random(7)
    every = [some_shape(rng) for _ in range(400)]
    assert modules.evaluate(COUNT, [plain(s) for s in every]) == [numbers(s) for s in every]


def test_defaults_are_those_of_python(modules):
    found = modules.evaluate("async () => (await import('./shapes.js')).DEFAULTS")
    assert found == {k: v for k, v in USUAL.items() if k not in ("compressed_layers", "notes")}
    named = modules.evaluate(
        "async () => (await import('./custom_scenario.js')).FIELDS.model.map((f) => f.name)"
    )
    assert sorted(named) == sorted(plain(shapes.shape("DeepSeek-V3")))


def test_definitions_survive_the_address(modules):
    rng = random.Random(11)
    every = [s for s in (some_shape(rng) for _ in range(150)) if shapes.total_parameters(s) <= 1e15]
    found = modules.evaluate(
        """async (list) => {
      const { check, decode, encode, rowOf } = await import("./custom_scenario.js");
      return list.map((given) => {
        const first = check("model", given),
          again = decode("model", encode("model", first.definition));
        return { problems: [...first.problems, ...again.problems],
          same: JSON.stringify(first) === JSON.stringify(again),
          values: rowOf("model", again.definition).values };
      });
    }""",
        [plain(s) | {"name": "A model, 7B*"} for s in every],
    )
    for s, one in zip(every, found, strict=True):
        assert one == {"problems": [], "same": True, "values": scenario.model_row(s)["values"]}


@pytest.mark.parametrize("name", CONFIGS)
def test_configurations_give_the_published_counts(modules, name):
    found = modules.evaluate(
        """async (text) => {
      const { readConfig } = await import("./model_config.js");
      const { check, rowOf } = await import("./custom_scenario.js");
      const { given, notes } = readConfig(text);
      return { notes, row: rowOf("model", check("model", given).definition) };
    }""",
        json.dumps(CONFIGS[name]),
    )
    row, wanted = found["row"], scenario.model_row(shapes.shape(name))
    assert row["values"] == wanted["values"]
    assert (row["kv_elements_per_token"], row["kv_window_elements"]) == (
        wanted["kv_elements_per_token"],
        wanted["kv_window_elements"],
    )
    assert not any("not known" in note for note in found["notes"])


@pytest.mark.parametrize(
    "text, said",
    [
        ("hidden_size: 4096", "in line 1, “hidden_size” stands where an opening brace should"),
        ('{\n"layers": 80,\n}', "in line 3 the comma before “}” is one too many"),
        ('{"layers": 80\n"heads": 8}', 'in line 2, “"heads"” stands where a comma or a closing'),
        ('{"layers": 80,\n\n heads: 8}', "in line 3, “heads” stands where a name in double"),
        ('{"layers" 80}', "“80” stands where a colon should"),
        ('{"layers": eighty}', "“eighty” stands where a number, a text in double quotation marks"),
        ('{"layers": 080}', "“080” stands where a number"),
        ('{"layers": 80,\n"a": [1, 2', "it ends in line 2, where a comma or a closing bracket"),
        ('{"layers": 80', "“}” is missing at the end"),
        ('{"layers: 80,\n"heads": 8}', "begins in line 1 has no quotation mark at its end"),
        ('{"layers": 80}}', "“}” stands where nothing more should"),
        ('{"layers": "\t"}', "holds a character that it may not hold"),
        ("[1, 2]", "one object in braces"),
        ("{}", "no num_hidden_layers"),
        (json.dumps(LLAMA | {"is_encoder_decoder": True}), "encoder"),
        (json.dumps(LLAMA | {"block_configs": [{}]}), "of different kinds"),
        (
            json.dumps(LLAMA | {"hidden_size": "8192"}),
            'hidden_size must be a whole number from 1 to 200,000; got the text "8192".',
        ),
    ],
)
def test_what_cannot_be_read_is_said(modules, text, said):
    problem = modules.evaluate(
        "async (text) => (await import('./model_config.js')).readConfig(text).problem", text
    )
    assert said in problem and problem.endswith(".") and "\n" not in problem


def test_any_damage_to_a_configuration_is_told_with_its_line(modules):
    """Every way to cut it off, and each of its characters dropped or doubled."""
    text = json.dumps(DEEPSEEK, indent=1)
    texts = [text[:end] for end in range(1, len(text) - 1)]
    texts += [
        text[:i] + change + text[i + 1 :] for i in range(len(text)) for change in ("", ",", "x")
    ]

    def broken(one: str) -> bool:
        try:
            json.loads(one)
        except ValueError:
            return True
        return False

    texts = [one for one in texts if broken(one)]
    said = modules.evaluate(
        """async (texts) => {
        const { readConfig } = await import("./model_config.js");
        return texts.map((text) => readConfig(text).problem); }""",
        texts,
    )
    assert len(texts) > 1000
    for one, problem in zip(texts, said, strict=True):
        assert problem.startswith("This is no JSON: ") and " line " in problem, (one, problem)
        assert problem.endswith(".") and "position" not in problem, (one, problem)


def test_parts_that_are_not_counted_are_named(modules):
    odd = LLAMA | {
        "mystery_layers": 3,
        "vision_config": {"depth": 2},
        "layer_types": ["full_attention"] * 60 + ["linear_attention"] * 20,
    }
    notes = " ".join(
        modules.evaluate(
            "async (text) => (await import('./model_config.js')).readConfig(text).notes",
            json.dumps(odd),
        )
    )
    assert (
        "mystery_layers" in notes and "vision_config" in notes and "20 layers keep a state" in notes
    )


@pytest.mark.parametrize(
    "text, said",
    [
        ("layers-eighty", "a whole number from 1 to 2,000"),
        ("x-3", "no field of a model"),
        ("", "no field"),
        ("layers-1*layers", "no field"),
        (
            "layers-80*d_model-8192*vocab-1000*heads-64*kv_heads-7*head_dim-128*ffn_dim-5",
            "multiple",
        ),
        (
            "layers-2000*d_model-200000*vocab-1000*heads-64*kv_heads-8*head_dim-8192*routed_experts-100000*active_experts-1*expert_dim-100000",
            "counts exactly",
        ),
        (
            "layers-2*d_model-8*vocab-9*heads-2*kv_heads-1*head_dim-4*ffn_dim-9*routed_experts-4*active_experts-5*expert_dim-3",
            "more experts",
        ),
        ("<script>-1", "no field"),
        ("__proto__-1", "no field"),
        ("constructor-1", "no field"),
    ],
)
def test_damaged_definitions_give_one_sentence_each(modules, text, said):
    found = modules.evaluate(
        "async (text) => (await import('./custom_scenario.js')).decode('model', text)", text
    )
    assert "definition" not in found and any(
        said in problem["text"] for problem in found["problems"]
    )


# The built page -----------------------------------------------------------------------------------


def live(page, start: str) -> str:
    """Return the first live number of the formula of that name."""
    return page.locator(f"[data-live^={start}-]").first.text_content()


@pytest.fixture
def tab(shared):
    tab = shared(color_scheme="light")  # not the tab that `modules` holds
    yield tab
    assert tab.faults == []


def start(page, name: str) -> None:
    page.locator("#yours-model-start").select_option(name)
    expect(page.locator("#bar-model")).to_have_value("yours")


def write(page, field: str, value) -> None:
    page.locator(f"#yours-{field}").fill(str(value))
    page.wait_for_timeout(350)


def test_a_pasted_configuration_becomes_the_books_scenario(tab, site):
    page = tab.open(site + "your-model.html")
    page.locator(".yours-model .yours-paste summary").click()
    page.locator("#yours-config").fill(json.dumps(LLAMA))
    expect(page.locator("#bar-model")).to_have_value("yours")
    assert "70,553,706,496" in page.locator(".yours-model .yours-counts").inner_text()
    wanted = {
        q: format_value(latency.latency_floor(scenario.values(model="Llama 3.1 70B")), "s")
        for q in ("latency_floor",)
    }
    assert live(page, "latency_floor") == wanted["latency_floor"]
    # the parts for mixtures of experts are gone, those for dense models are there
    assert not page.get_by_text("Where the model has experts, a small batch").is_visible()
    assert page.get_by_text("Where a model is dense, nothing has to be sent").is_visible()
    # and another page follows
    page = tab.open(site + "index.html")
    assert (
        page.locator("#bar-model").evaluate("s => s.selectedOptions[0].textContent") == "Your model"
    )
    known = scenario.values(model="Llama 3.1 70B")
    assert live(page, "cost_per_token_with_latency") == format_value(
        latency.cost_per_token_with_latency(known, batch=189), "$/token"
    )


DROP = """([text, name]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name, { type: "application/json" }));
  const place = document.querySelector(".yours-model .yours-paste");
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true });
    place.dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error(`${kind} is left to the browser`);
  }
}"""


def test_a_configuration_may_be_dropped_or_chosen(tab, site):
    page = tab.open(site + "your-model.html")
    total = page.locator(".yours-model [data-count='Parameters, in total']")
    said = page.locator(".yours-model .yours-paste .yours-said")
    page.evaluate(DROP, [json.dumps(LLAMA), "config.json"])  # onto what is still closed
    expect(page.locator("#bar-model")).to_have_value("yours")
    assert "70,553,706,496" in total.inner_text()
    assert "head_dim is not given" in said.inner_text()
    # by keyboard: the field is labelled, and the next stop after the text
    page.locator("#yours-config").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "yours-config-file"
    chooser = page.locator(".yours-model").get_by_label("or a file, which may also be dropped here")
    given = json.dumps(GPT_OSS)
    for _ in range(2):  # the same file can be chosen again
        chooser.set_input_files(
            {"name": "config.json", "mimeType": "application/json", "buffer": given.encode()}
        )
        expect(page.locator(".yours-model .yours-counts")).to_contain_text("116,829,156,672")
    for text, problem in (
        ('{"num_hidden_layers": 80,\n}', "model.json: This is no JSON: in line 2"),
        ("", "model.json is empty."),
        ("\x00\xff", "model.json: This is no JSON"),
        ("[1]", "model.json: A config.json is one object in braces"),
        ("x" * 16_000_001, "model.json is too large for a config.json."),
    ):
        page.evaluate(DROP, [text, "model.json"])
        page.wait_for_function(
            "said => document.querySelector('.yours-said').innerText.startsWith(said)", arg=problem
        )
        assert said.locator("p").count() == 1
        assert "116,829,156,672" in total.inner_text()  # what was there stays


def test_a_measured_chip_may_be_pasted_or_chosen(tab, site):
    page = tab.open(site + "your-model.html")
    chip = {
        "name": "Test GPU",
        "bf16": 7e14,
        "memory_bandwidth": 3e12,
        "memory_capacity": 9e10,
        "domain_devices": 8,
        "source": "measured on 2026-02-03 with PyTorch 2.9",
        "notes": ["Measured rates lie below those of a data sheet."],
    }
    page.locator(".yours-hardware .yours-paste summary").click()
    page.locator("#yours-chip").fill(json.dumps(chip))
    expect(page.locator("#bar-hardware")).to_have_value("yours")
    label = "s => s.selectedOptions[0].textContent"
    assert page.locator("#bar-hardware").evaluate(label) == "Test GPU (your chip) (no price)"
    assert live(page, "drain_time") == format_value(9e10 / 3e12, "s")
    said = page.locator(".yours-hardware .yours-said")
    assert said.locator("li").all_text_contents() == [
        "Measured on 2026-02-03 with PyTorch 2.9.",
        "Measured rates lie below those of a data sheet.",
    ]
    page.locator("#yours-chip-file").set_input_files(
        {
            "name": "mine.json",
            "mimeType": "application/json",
            "buffer": json.dumps(chip | {"memory_capacity": 6e10, "devices": 9}).encode(),
        }
    )
    expect(said).to_have_text(
        re.compile("^mine.json: The chips that serve one copy are at most the 8")
    )
    assert live(page, "drain_time") == format_value(9e10 / 3e12, "s")  # what was there stays


def test_the_form_explains_a_published_count_that_is_another(tab, site):
    page = tab.open(site + "your-model.html")
    said = page.locator(".yours-model .yours-note")
    for name, count in (("gpt-oss-120b", 1), ("Llama 3.1 70B", 0)):
        start(page, name)
        assert said.all_text_contents() == [shapes.published_difference(name)] * count


# The parameters of the bar's link.
LINK = """() => {
  let found = "";
  navigator.clipboard.writeText = async (text) => { found = text; };
  document.querySelector(".bar-tools button:last-child").click();
  return Object.fromEntries(new URL(found).searchParams); }"""


def test_a_chip_of_ones_own_and_its_link(tab, site, watch):
    page = tab.open(site + "your-model.html")
    page.locator("#yours-hardware-start").select_option("H100 SXM")
    expect(page.locator("#bar-hardware")).to_have_value("yours")
    write(page, "hardware-memory_bandwidth", "6.7")
    write(page, "hardware-name", "Twice")
    known = scenario.values(hardware="H100 SXM", memory_bandwidth=6.7e12)
    assert live(page, "drain_time") == format_value(known["memory_capacity"] / 6.7e12, "s")
    # the machine is forgotten elsewhere, and the address alone gives it back
    link = page.evaluate("""async () => {
      const found = [];
      navigator.clipboard.writeText = async (text) => found.push(text);
      document.querySelector('.bar-tools button:last-child').click();
      for (let i = 0; i < 500 && !found.length; i += 1)
        await new Promise((done) => setTimeout(done, 10));
      return found[0]; }""")
    assert "yours.hardware=" in link
    other = watch()
    elsewhere = other.open(link.replace("your-model.html", "balance-batch.html"))
    assert (
        elsewhere.locator("#bar-hardware").evaluate("s => s.selectedOptions[0].textContent")
        == "Twice (your chip)"
    )
    assert other.faults == []


def test_nonsense_is_said_and_the_book_keeps_what_it_had(tab, site):
    page = tab.open(site + "your-model.html")
    start(page, "Llama 3.1 8B")
    before = live(page, "latency_floor")
    write(page, "model-layers", "many")
    assert page.locator("#yours-model-layers").get_attribute("aria-invalid") == "true"
    assert (
        "a whole number from 1 to 2,000" in page.locator(".yours-model .yours-status").inner_text()
    )
    assert live(page, "latency_floor") == before
    write(page, "model-layers", "64")
    assert (
        page.locator("#yours-model-layers").get_attribute("aria-invalid") is None
        and live(page, "latency_floor") != before
    )


UNITS = {
    "hardware-memory_capacity": {"24 GB": 24e9, "24": 24e9, "0.08 TB": 8e10, "80G": 8e10},
    "hardware-memory_bandwidth": {"3.35 TB/s": 3.35e12, "3350 GB/s": 3.35e12, "3.35": 3.35e12},
    "hardware-bf16": {"989 TFLOP/s": 9.89e14, "989 TFLOPS": 9.89e14, "0.989 PFLOPs": 9.89e14},
    "hardware-scale_up_bandwidth": {"450 GB/s": 4.5e11, "3.6 Tbit/s": 4.5e11, "450": 4.5e11},
    "hardware-domain_devices": {"72 chips": 72, "72": 72, "8 GPUs": 8},
    "hardware-device_price": {
        text: 3 / 3600
        for text in ("3", "$3", "$3/h", "$3 an hour", "3 $ per chip and hour", "3,00")
    },
    "model-layers": {"80 layers": 80, "64": 64},
    "model-max_context": {"128k": 128000, "128k tokens": 128000, "131,072 tokens": 131072},
}


@pytest.mark.parametrize("field", UNITS)
def test_a_value_may_be_typed_with_its_unit(tab, site, field):
    page = tab.open(site + "your-model.html")
    kind, name = field.split("-", 1)
    row = "H100 SXM" if kind == "hardware" else "Llama 3.1 8B"
    page.locator(f"#yours-{kind}-start").select_option(row)
    expect(page.locator(f"#bar-{kind}")).to_have_value("yours")
    for text, wanted in UNITS[field].items():
        write(page, field, text)
        found = page.evaluate(LINK)
        given = dict(part.split("-", 1) for part in found[f"yours.{kind}"].split("*"))
        assert float(given[name]) == pytest.approx(wanted, rel=1e-12), text
    for text in ("12 parsecs", "3 ms", "0"):
        write(page, field, text)
        fault = page.locator(f"#yours-{field}-fault")
        if name == "max_context" and text == "0":
            assert "0 is no length; leave the field blank" in fault.inner_text()
            continue
        assert "is allowed, and" in fault.inner_text() and "0e0" not in fault.inner_text()
    write(page, field, -1)  # told as it was typed, and not in other units
    assert page.locator(f"#yours-{field}-fault").inner_text().endswith("and −1 is not one.")


def test_limits_are_written_as_people_write_numbers(tab, site):
    page = tab.open(site + "your-model.html")
    start(page, "Llama 3.1 8B")
    for field, text, said in (
        ("layers", "0", "Layers: a whole number from 1 to 2,000 is allowed, and 0 is not one."),
        ("vocab", "2e7", "from 1 to 10 million is allowed, and 20 million is not one."),
        ("layers", "1e-5", "2,000 is allowed, and 10⁻⁵ is not one."),
        ("window_tokens", "0", "0 is no window; leave the field blank where no layer has one."),
    ):
        write(page, f"model-{field}", text)
        fault = page.locator(f"#yours-model-{field}-fault").inner_text().replace("\u00a0", " ")
        assert said in fault


def test_a_stated_total_is_held_against_the_shape(tab, site):
    page = tab.open(site + "your-model.html")
    start(page, "Llama 3.1 8B")
    said = page.locator("[data-count='Against the stated total']")
    page.locator("#yours-stated").fill("8030261248")
    assert "to the last digit" in said.inner_text()
    page.locator("#yours-stated").fill("8B")
    assert "+0.38" in said.inner_text() and "yours-wrong" not in said.get_attribute("class")
    page.locator("#yours-stated").fill("70B")
    assert "yours-wrong" in said.get_attribute("class")
    page.locator("#yours-stated").fill("plenty")
    assert "is no number of parameters" in said.inner_text()


def test_forgetting_forgets(tab, site):
    page = tab.open(site + "your-model.html")
    start(page, "Llama 3.1 8B")
    page.get_by_role("button", name="Forget my model").click()
    assert page.locator("#bar-model").input_value() == scenario.DEFAULT["model"]
    assert page.locator("#bar-model option[value=yours]").count() == 0
    page = tab.open(site + "balance-batch.html")
    assert page.locator("#bar-model option[value=yours]").count() == 0
    assert "yours" not in page.evaluate(
        "localStorage.getItem('handful-yours') + localStorage.getItem('handful-scenario')"
    ).replace("earlier", "")


def test_a_damaged_address_breaks_nothing(tab, site):
    page = tab.open(site + "latency-and-cost.html?model=yours&yours.model=layers-80*heads-x")
    assert (
        "The address describes a model that cannot be used."
        in page.locator(".bar-notes").inner_text()
    )
    assert (
        page.locator("#bar-model").input_value() == starts_from("latency-and-cost.html")["model"]
        and live(page, "step_time") != "–"
    )
    page = tab.open(site + "latency-and-cost.html?hardware=yours")
    assert "none is described here yet" in page.locator(".bar-notes").inner_text()


def test_damaged_memory_breaks_nothing(tab, site):
    page = tab.open(site + "index.html")
    for text in (
        "{",
        "3",
        '{"model": {"layers": "x"}, "hardware": [], "earlier": 5}',
        '{"model": null}',
    ):
        page.evaluate(
            "(text) => { localStorage.setItem('handful-yours', text); "
            "localStorage.setItem('handful-scenario', JSON.stringify({model: 'yours'})); }",
            text,
        )
        page = tab.open(site + "index.html")
        assert page.locator("#bar-model").input_value() == scenario.DEFAULT["model"]


def test_a_link_puts_the_readers_own_model_aside(tab, site):
    page = tab.open(site + "your-model.html")
    start(page, "Llama 3.1 8B")
    write(page, "model-name", "Mine")
    text = "name-Theirs*layers-2*d_model-64*vocab-100*heads-4*kv_heads-2*head_dim-16*ffn_dim-256"
    page = tab.open(f"{site}your-model.html?model=yours&yours.model={quote(text)}")
    assert page.locator("#yours-model-name").input_value() == "Theirs"
    page.get_by_role("button", name="Bring back Mine").click()
    page.wait_for_function(
        "() => document.querySelector('#bar-model').selectedOptions[0].textContent "
        "=== 'Mine (your model)'"
    )


@pytest.mark.parametrize("name", ["Llama 3.1 8B", "Kimi K2", "gpt-oss-120b"])
def test_no_page_number_is_missing_where_it_is_shown(tab, site, name):
    """Whatever the model, visible sentences have their numbers; the rest is hidden."""
    page = tab.open(site + "your-model.html")
    start(page, name)
    tab.rest()
    assert (
        page.evaluate(
            "[...document.querySelectorAll('article .live')].filter((s) => s.offsetParent && "
            "s.textContent === '–' ).map((s) => s.dataset.live)"
        )
        == []
    )
