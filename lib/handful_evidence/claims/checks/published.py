"""Published deployments that several tests of claims use."""

from __future__ import annotations

from collections.abc import Iterator

from handful import facts

# Published decoding services of DeepSeek-V3, and the chip whose scale-up domain theirs is.
_SERVICES = {
    "deepseek_decode": ("DeepSeek on H800", "H100 SXM"),
    "sglang_h100_decode_2k": ("SGLang on H100", "H100 SXM"),
    "vllm_h200": ("vLLM on H200", "H200 SXM"),
    "sglang_gb200_p2_fp8": ("SGLang on GB200 NVL72", "GB200 NVL72"),
    "vllm_gb200_decode": ("vLLM on GB200 NVL72", "GB200 NVL72"),
}


def services() -> Iterator[tuple[str, facts.Row, int]]:
    """Yield words for each of those services, its row, and the chips of one domain there.

    >>> [words for words, row, domain in services() if row["chips"] <= domain]
    ['SGLang on GB200 NVL72, 48 chips', 'vLLM on GB200 NVL72, 8 chips']
    """
    for name, (words, chip) in _SERVICES.items():
        row = facts.get("measured_serving", name)
        yield (
            f"{words}, {row['chips']} chips",
            row,
            facts.get("accelerators", chip)["scaleup_domain_chips"],
        )
