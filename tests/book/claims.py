"""What the chapters must find when they are built, whatever the machine and the random draws."""

from dataclasses import dataclass
from typing import Any

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


@dataclass(frozen=True)
class Claim:
    """A value of a chapter: a text that must be equal, or bounds that include their ends."""

    layer: str
    name: str
    expected: str | tuple[float, float]


def exactly(layer: str, **texts: str) -> list[Claim]:
    """Worked examples: equal to the last printed digit."""
    return [Claim(layer, name, text) for name, text in texts.items()]


def between(layer: str, **bounds: tuple[float, float]) -> list[Claim]:
    """Measured values: within the range that theory or many seeds allow."""
    return [Claim(layer, name, bound) for name, bound in bounds.items()]


def holds(claim: Claim, value: Any) -> bool:
    """Whether the page keeps what was claimed."""
    if isinstance(claim.expected, str):
        return bool(value.replace("\N{MINUS SIGN}", "-") == claim.expected)
    low, high = claim.expected
    return low <= as_number(value) <= high


def as_number(value: Any) -> float:
    """Read ``8.0 x 10^11`` as the book prints it."""
    if not isinstance(value, str):
        return float(value)
    text = value.replace("\N{MINUS SIGN}", "-").translate(SUPERSCRIPTS)
    factor, times, power = text.partition(" \N{MULTIPLICATION SIGN} 10")
    return float(factor) * 10.0 ** int(power) if times else float(factor)


CLAIMS = [
    *exactly("embedding", row2="(0.5, 0.6)", row0="(0.1, 0.2)", d0="(2, 2)", d1="(0, 0)"),
    *exactly("embedding", d2="(4, 4)", wrong2="(3, 3)", one_hot_equal="true"),
    *between(
        "embedding",
        one_hot_nan=(3, 3),
        formula_error=(0, 1e-8),
        lost_1024=(40, 60),
        lost_16384=(65, 85),
        loss_right=(1.30, 1.34),
        loss_wrong=(1.5, 2.6),
        loop_gain=(2, 1e3),
    ),
    *exactly(
        "layernorm",
        centred="(-1.5, -0.5, 0.5, 1.5)",
        squares="(2.25, 0.25, 0.25, 2.25)",
        x_hat="(-1.34, -0.45, 0.45, 1.34)",
        scaled="(-1.68, 0.11, 1.89, 3.68)",
        base_hat="(-1.34, -0.45, 0.45, 1.34)",
        moved_hat="(-1.34, -0.45, 0.45, 1.34)",
        dx_hand="(0.54, -0.72, -0.18, 0.36)",
    ),
    *between(
        "layernorm",
        mean=(2.5, 2.5),
        var=(1.25, 1.25),
        times_ten=(5.2e-6, 5.4e-6),
        times_ten_exact=(0, 1e-15),
        x_hat_var=(0.999991, 0.999993),
        along_exact=(0, 1e-13),
        along_eps=(1e-6, 1e-3),
        formula_error=(0, 1e-8),
        slip_at_ones=(0, 1e-8),
        slip_at_third=(3, 100),
        slips=(6, 6),
        largest_start=(0, 1e-12),
        one_pass_1e4=(0.5, 1e9),
        two_pass_1e4=(0, 2e-3),
        ddof_error=(0.09, 0.11),
        outside_error=(1.4, 3.5),
        drift_between=(2e3, 3e4),
    ),
    *exactly(
        "rmsnorm",
        hat="(0.37, 0.73, 1.10, 1.46)",
        base_hat="(0.365, 0.730, 1.095, 1.461)",
        moved_rms="(0.971, 0.990, 1.009, 1.028)",
        moved_layer="(-1.342, -0.447, 0.447, 1.342)",
        base_layer="(-1.342, -0.447, 0.447, 1.342)",
    ),
    *between(
        "rmsnorm",
        mean_square=(7.5, 7.5),
        rms=(2.7386, 2.7387),
        base_rms=(5.4772, 5.4773),
        formula_error=(0, 1e-8),
        dx_sum=(0.4, 0.6),
        arithmetic_LayerNorm=(32.0, 32.1),
        arithmetic_RMSNorm=(20.0, 20.1),
        unfused_LayerNorm=(0.640, 0.642),
        unfused_RMSNorm=(0.480, 0.482),
        fused=(0.320, 0.322),
        matmul=(2.22, 2.23),
        bound_fused_LayerNorm=(9.99, 10.01),
        bound_fused_RMSNorm=(15.99, 16.01),
        bound_unfused_LayerNorm=(19.99, 20.01),
        bound_unfused_RMSNorm=(23.99, 24.01),
        # The norms do one operation per byte or less.
        here_ridge=(1.0, 300),
        of_roof_layer_numpy=(0, 90),
        std_zero=(0, 1),
        std_one=(30, 50),
    ),
    *exactly(
        "batchnorm",
        mean="(2.5, 20.0)",
        var="(1.25, 100.00)",
        hat_first="(-1.34, -0.45, 0.45, 1.34)",
        hat_second="(-1.00, 1.00, -1.00, 1.00)",
        running_mean="(0.25, 2.00)",
        running_var="(1.07, 14.23)",
        dx_hand="(0.54, -0.72, -0.18, 0.36)",
        dx_other="(0, 0, 0, 0)",
        pair_hat="(-1.000, 1.000)",
    ),
    *between(
        "batchnorm",
        shared_BatchNorm=(12, 12),
        shared_LayerNorm=(6, 6),
        formula_error=(0, 1e-8),
        bias_gradient=(0, 1e-12),
        cos_batch=(0, 1e-4),
        cos_layer=(0.1, 1),
        cos_rms=(0.1, 1),
        cos_layer_whole=(0, 1e-4),
        twice=(0.2, 0.5),
        twice_size=(0.6, 1.1),
        twice_layer=(0, 0),
        # The formula within 5 percent.
        gap_2=(0.535, 0.591),
        gap_8=(0.263, 0.291),
        gap_32=(0.123, 0.136),
        gap_128=(0.0403, 0.0445),
        gap_worst=(0, 5),
        lone_batch=(0, 0),
        lone_layer=(0.7, 0.9),
        leak=(0.7, 1.6),
        leak_layer=(0, 0),
        acc_right=(85, 96),
        acc_mixed=(84, 96),
        acc_ordered=(20, 45),
        acc_one=(20, 30),
        noise_tenth=(0.052, 0.065),
        noise_nine=(0.2, 0.26),
        biased_2=(0.49, 0.51),
        biased_16=(0.93, 0.945),
        biased_128=(0.991, 0.994),
        fold_error=(0, 1e-12),
        use_gain=(1.1, 20),
    ),
    *exactly("dropout", by_hand="(2, 0, 2, 2)"),
    *between(
        "dropout",
        # Five standard errors of a million draws.
        average=(1 - 3.3e-3, 1 + 3.3e-3),
        linear_error=(0, 1e-12),
        softmax_error=(0, 1e-12),
        keeps_third=(0.41, 0.45),
        scales_third=(2.30, 2.37),
        corr_right=(0, 0.05),
        corr_shared=(0.999, 1.001),
        guess_plain=(0, 1e-8),
        guess_relu=(0.5, 1.5),
        normal_kept=(38, 38.5),
        worse_early=(0, 0),
        worse_late=(10, 10),
        worse_decayed=(0, 0),
    ),
    *between(
        "regularization",
        hand_matrix=(1.5999, 1.6001),
        hand_bias=(1.6999, 1.7001),
        half_life=(231, 231),
        # The signs of the dropout grid, on both data sets.
        questions_0_worse=(10, 10),
        clouds_0_worse=(9, 10),
        questions_3_worse=(0, 0),
        clouds_3_worse=(0, 1),
        questions_4_worse=(9, 10),
        clouds_4_worse=(9, 10),
        questions_early_better=(10, 10),
        clouds_early_better=(10, 10),
        far_worse=(1, 5),
        questions_noisy_worse=(9, 10),
        clouds_noisy_worse=(9, 10),
        questions_gap_0_0=(4, 6),
        questions_gap_0_5=(6.5, 10),
        questions_accuracy_0_5=(55, 70),
        clouds_most_right=(15, 50),
        corrected_factor=(0.87, 0.88),
        usual_share=(0.3, 0.45),
        corrected_share=(0.9, 1.1),
        beyond_usual=(40, 60),
        beyond_corrected=(4, 12),
        best_of_many=(72, 78),
    ),
    *exactly(
        "optimizer",
        first="-0.5",
        leap="-1.1",
        v2="0.019984",
        m_hat2="2.947",
        v_hat2="9.997",
        step1="0.1000",
        p2="0.8068",
        bare_step1="0.316",
        decayed="(0.8500, 0.7143)",
        rise="(0.25, 0.50, 0.75, 1.00, 1.00)",
        inside_6="0.01",
        outside_6="0.99",
        without_tenth="1,751",
        pull_small="0.00",
    ),
    *between(
        "optimizer",
        adam_loss=(0, 0.3),
        sgd_loss=(0.4, 0.5),
        without_first=(3.16, 3.17),
        without_most=(6.5, 6.6),
        without_at=(12, 12),
        noise_first=(0.999, 1.001),
        # The formula, within 3 percent.
        noise_late=(0.2225, 0.2363),
        quarter=(0.8828, 0.8829),
        middle=(0.599, 0.601),
        net_start=(1.2, 2),
        net_outside_one=(0.01, 0.1),
        net_inside_one=(0.01, 0.1),
        net_outside_tiny=(0.01, 0.12),
        net_inside_tiny=(1, 2),
        sgd_same=(0, 1e-13),
        pull_expected=(0.135, 0.136),
        # Nine means of 300 weights, each of which varies by 0.23.
        pull_decoupled_low=(0.07, 0.14),
        pull_decoupled_high=(0.13, 0.2),
        pull_large=(0.6, 1),
        adam_factor=(1.5, 20),
    ),
    *between(
        "initialization",
        signs_mean=(0, 0),
        signs_square=(25, 25),
        chain_forward=(0.5, 1.6),
        chain_backward=(0.5, 1.6),
        chain_expected=(11.8, 11.82),
        chain_far_forward=(6, 20),
        chain_far_backward=(6, 20),
        ratio_64=(0.97, 1.03),
        ratio_512=(0.98, 1.02),
        ratio_2048=(0.98, 1.02),
        grow=(5.7e8, 7e8),
        shrink=(8e-16, 1e-15),
        he_512=(0.0625, 0.0625),
        second_moment=(0.495, 0.505),
        relu_variance=(0.338, 0.344),
        end_one=(4.5e11, 1.8e12),
        end_he=(0.5, 1.5),
        end_small=(4e-9, 1.8e-8),
        ratio=(1.095e12, 1.105e12),
        tanh_Xavier=(0.09, 0.11),
        tanh_He=(0.5, 0.62),
        relu_Xavier=(1e-9, 1e-7),
        stream_48_False=(9, 11),
        stream_48_True=(1.3, 1.5),
    ),
    *exactly(
        "gradcheck",
        one_sided="12.61",
        two_sided="12.01",
        one_sided_off="0.61",
        two_sided_off="0.01",
        smaller_off="0.0001",
        gpt_passes="221,058",
    ),
    *between(
        "gradcheck",
        # Claim 1b: 1e-5, 1e-9, 6e-11, 5e-8, 5e-4 for these steps; 2e-6 and 2.5e-8 one-sided.
        central_2=(3e-6, 3e-5),
        central_4=(3e-10, 3e-9),
        central_5=(1e-11, 2e-10),
        central_8=(5e-9, 2e-7),
        central_12=(5e-5, 2e-3),
        forward_5=(1e-6, 1e-5),
        forward_best=(5e-9, 6e-8),
        float32_best=(5e-6, 1e-4),
        float32_5=(0.5, 6),
        # Right code rejected, in %: 15, 20, 33 and 100 of 60 seeds in the claim.
        entry_none=(4, 30),
        entry_layer=(1, 30),
        entry_rms=(5, 45),
        entry_batch=(99, 100),
        array_none=(2, 20),
        array_layer=(0, 1),
        array_batch=(0, 0),
        kink_none=(2, 20),
        kink_layer=(0, 0),
        kink_rms=(2, 25),
        kink_share=(80, 100),
        still_rejected=(0, 4),
        median_none=(0, 1e-9),
        median_batch=(0, 5e-9),
        bias_analytic=(0, 1e-14),
        bias_numeric=(1e-13, 1e-8),
        right_max=(0, 1e-8),
        one_max=(0.19, 0.21),
        one_mean=(1e-4, 2e-3),
        one_angle=(1e-4, 2e-3),
        twice_max=(1, 1),
        twice_signed=(0, 1e-8),
        right_angle=(0, 1e-15),
        twice_angle=(0, 1e-15),
        absolute_small=(0, 1e-6),
        blind=(0, 1e-8),
        noisy=(1e5, 1e7),
        still_error=(0, 1e-9),
        along_right=(0, 1e-8),
        along_missing=(0.1, 10),
        along_one=(5e-3, 0.2),
    ),
]
