//! What kernels compute, in double precision and in the plainest way.

use super::given::{Given, Numbers};

/// The tensors that a kernel writes, by name.
pub type Written = Vec<(&'static str, Numbers)>;

/// What the kernel of this name writes; `None` where there is no reference.
pub fn written(kernel: &str, given: &Given) -> Option<Written> {
    let tensor = |name| given.tensor(name);
    let gemm = |a, b, c| Some(vec![(c, product(tensor(a), tensor(b)))]);
    match kernel {
        "gemm_double_buffer"
        | "gemm_ring3"
        | "gemm_staging_alias"
        | "cluster_gemm"
        | "cluster_gemm_4"
        | "persistent_ws_gemm"
        | "pingpong_gemm"
        | "splitk_reduce"
        | "ws_gemm"
        | "ws_two_consumers"
        | "tc05_gemm"
        | "tc05_ws_gemm"
        | "tc05_cluster_gemm"
        | "tc05_pair_gemm"
        | "tc05_persistent"
        | "tc05_subtile_epilogue" => gemm("a_desc", "b_desc", "c_desc"),
        "cp_async_gemm" => gemm("a_ptr", "b_ptr", "c_ptr"),
        "matmul"
        | "matmul_wide"
        | "tdm_gemm"
        | "tdm_gemm_double"
        | "tdm_ws_gemm"
        | "tdm_ws_gemm_one_warp"
        | "tdm_cluster_gemm" => gemm("a", "b", "c"),
        "cdna4_gemm" | "cdna4_gemm_double" => {
            // The arrays are longer than the matrices: the last loads run past the end of K.
            let (k, c) = (given.scalar("K") as usize, tensor("c"));
            let a = Numbers::matrix(c.shape[0], k, |row, column| tensor("a").at(row, column));
            let b = Numbers::matrix(k, c.shape[1], |row, column| tensor("b").at(row, column));
            Some(vec![("c", product(&a, &b))])
        }
        "gemm_ring4" => Some(vec![("c_desc", product(tensor("a_desc"), &transposed(tensor("b_desc"))))]),
        "tc05_accumulate" => {
            let mut sum = product(tensor("a_desc"), tensor("b_desc"));
            sum.values.iter_mut().zip(&tensor("c_desc").values).for_each(|(sum, c)| *sum += c);
            Some(vec![("c_desc", sum)])
        }
        "tc05_dequant" => {
            let scale = given.scalar("scale");
            let wide = mapped(tensor("w_desc"), |weight| weight * scale);
            Some(vec![("c_desc", product(tensor("a_desc"), &wide))])
        }
        "tc05_silu_gemm" => {
            let active = mapped(tensor("x_desc"), |x| x / (1.0 + (-x).exp()));
            Some(vec![("y_desc", product(&active, tensor("w_desc")))])
        }
        "mlp_fused" => {
            let hidden = mapped(&product(tensor("x_desc"), tensor("w1_desc")), |h| h.max(0.0));
            Some(vec![("y_desc", product(&hidden, tensor("w2_desc")))])
        }
        "tc05_scaled" => {
            let a = scaled(tensor("a_desc"), |row, group| tensor("a_scales").at(row, group));
            let b = scaled(tensor("b_desc"), |row, group| tensor("b_scales").at(row, group));
            Some(vec![("out", product(&a, &transposed(&b)))])
        }
        "tc05_scales_copy" => {
            let a = scaled(tensor("a_desc"), |row, group| packed(tensor("sa_desc"), row, group));
            let b = scaled(tensor("b_desc"), |row, group| packed(tensor("sb_desc"), row, group));
            Some(vec![("out", product(&a, &transposed(&b)))])
        }
        "attention_ws" => Some(vec![("out", heads(given, ["q_desc", "k_desc", "v_desc"], true, 2.0))]),
        "tc05_attention" => Some(vec![("out", heads(given, ["q_desc", "k_desc", "v_desc"], false, 2.0))]),
        "tdm_attention" => Some(vec![("out", heads(given, ["q", "k", "v"], false, std::f64::consts::E))]),
        "attention" => Some(vec![("out", heads(given, ["q", "k", "v"], false, 2.0))]),
        "attention_causal" => Some(vec![("out", heads(given, ["q", "k", "v"], true, 2.0))]),
        "cluster_scale_rows" => {
            let (x, f) = (tensor("x_desc"), tensor("f_desc"));
            let rows = f.shape[0];
            Some(vec![(
                "y_desc",
                Numbers::matrix(x.shape[0], x.width(), |row, at| x.at(row, at) * f.at(row % rows, at)),
            )])
        }
        "ws_scale_rows" => {
            let (x, scales) = (tensor("x_desc"), tensor("scales"));
            Some(vec![("y_desc", Numbers::matrix(x.shape[0], x.width(), |row, at| x.at(row, at) * scales.values[row]))])
        }
        "cp_async_ws" | "cp_async_ws_noinc" => {
            Some(vec![("out", columns(tensor("x"), |row| tensor("weights").values[row]))])
        }
        "lds_barrier_copy" => Some(vec![("out", columns(tensor("x"), |_| 1.0))]),
        "ws_varlen_pool" => Some(vec![("out", pooled(given))]),
        "rms_norm_rows" => {
            let (gain, eps) = (tensor("gain"), given.scalar("eps"));
            let norm = by_row(tensor("x_desc"), |row| {
                let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
                row.iter().zip(&gain.values).map(|(x, gain)| x / (mean + eps).sqrt() * gain).collect()
            });
            Some(vec![("y_desc", norm)])
        }
        "softmax_two_pass" => Some(vec![("y_desc", by_row(tensor("x_desc"), |row| softmax(row, 2.0)))]),
        "softmax" => Some(vec![("y", by_row(tensor("x"), |row| softmax(row, std::f64::consts::E)))]),
        "layer_norm" => {
            let (gain, bias, eps) = (tensor("gain"), tensor("bias"), given.scalar("eps"));
            let norm = by_row(tensor("x"), |row| {
                let mean = row.iter().sum::<f64>() / row.len() as f64;
                let spread = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / row.len() as f64;
                let one =
                    |(at, x): (usize, &f64)| (x - mean) / (spread + eps).sqrt() * gain.values[at] + bias.values[at];
                row.iter().enumerate().map(one).collect()
            });
            Some(vec![("y", norm)])
        }
        "static_stages" => {
            let x = tensor("x_desc");
            let mirrored = |row: usize| row / 192 * 192 + (2 - row % 192 / 64) * 64 + row % 64;
            Some(vec![(
                "y_desc",
                Numbers::matrix(x.shape[0], x.width(), |row, at| x.at(row, at) + x.at(mirrored(row), at)),
            )])
        }
        "clc_copy_rows" | "clc_copy_rows_4" => Some(vec![("y_desc", tensor("x_desc").clone())]),
        "gather_scatter_rows" => {
            let (x, source) = (tensor("x_desc"), tensor("source"));
            Some(vec![(
                "y_desc",
                Numbers::matrix(source.values.len(), x.width(), |row, at| x.at(source.values[row] as usize, at)),
            )])
        }
        "tdm_rows" => {
            // Rows from `count` on keep what they had.
            let (x, picks, count) = (tensor("x"), tensor("picks"), given.scalar("count") as usize);
            let pick = |row: usize, at| match row < count {
                true => x.at(picks.values[row] as usize, at) * given.scalar("factor"),
                false => tensor("y").at(row, at),
            };
            Some(vec![("y", Numbers::matrix(x.shape[0], x.width(), pick))])
        }
        "histogram" => {
            let mut counts = tensor("counts").clone();
            tensor("x").values.iter().for_each(|bin| counts.values[*bin as usize] += 1.0);
            Some(vec![("counts", counts)])
        }
        "running_sum" => {
            let mut sums = tensor("x").clone();
            let mut before = 0.0;
            sums.values.iter_mut().for_each(|value| {
                before += *value;
                *value = before;
            });
            Some(vec![("y", sums)])
        }
        _ => None,
    }
}

fn product(a: &Numbers, b: &Numbers) -> Numbers {
    let (rows, inner, columns) = (a.shape[0], a.width(), b.width());
    let mut values = vec![0.0; rows * columns];
    for row in 0..rows {
        for at in 0..inner {
            let left = a.values[row * inner + at];
            let line = &b.values[at * columns..(at + 1) * columns];
            values[row * columns..(row + 1) * columns]
                .iter_mut()
                .zip(line)
                .for_each(|(sum, right)| *sum += left * right);
        }
    }
    Numbers { shape: vec![rows, columns], values }
}

fn transposed(a: &Numbers) -> Numbers {
    Numbers::matrix(a.width(), a.shape[0], |row, column| a.at(column, row))
}

fn mapped(a: &Numbers, each: impl Fn(f64) -> f64) -> Numbers {
    Numbers { shape: a.shape.clone(), values: a.values.iter().map(|&value| each(value)).collect() }
}

fn by_row(a: &Numbers, each: impl Fn(&[f64]) -> Vec<f64>) -> Numbers {
    Numbers { shape: a.shape.clone(), values: a.values.chunks(a.width()).flat_map(each).collect() }
}

fn columns(x: &Numbers, weight: impl Fn(usize) -> f64) -> Numbers {
    let sum = |column| (0..x.shape[0]).map(|row| x.at(row, column) * weight(row)).sum();
    Numbers { shape: vec![x.width()], values: (0..x.width()).map(sum).collect() }
}

fn softmax(row: &[f64], base: f64) -> Vec<f64> {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = row.iter().map(|x| base.powf(x - top)).collect();
    let total: f64 = powers.iter().sum();
    powers.iter().map(|power| power / total).collect()
}

/// Attention of every head; the last two dimensions are keys and a head's width.
fn heads(given: &Given, [q, k, v]: [&str; 3], causal: bool, base: f64) -> Numbers {
    let (q, k, v, scale) = (given.tensor(q), given.tensor(k), given.tensor(v), given.scalar("scale"));
    let width = q.width();
    let (rows, keys) = (q.shape[q.shape.len() - 2], k.shape[k.shape.len() - 2]);
    let mut values = Vec::with_capacity(q.values.len());
    for head in 0..q.values.len() / (rows * width) {
        let query = |row, at| q.values[(head * rows + row) * width + at];
        for row in 0..rows {
            let seen = if causal { row + 1 } else { keys };
            let score = |key: usize| {
                (0..width).map(|at| query(row, at) * k.values[(head * keys + key) * width + at]).sum::<f64>()
            };
            let weights = softmax(&(0..seen).map(|key| score(key) * scale).collect::<Vec<_>>(), base);
            for at in 0..width {
                values.push(
                    weights.iter().enumerate().map(|(key, w)| w * v.values[(head * keys + key) * width + at]).sum(),
                );
            }
        }
    }
    Numbers { shape: q.shape.clone(), values }
}

/// Elements times two to the power of their group's scale, 32 elements of a row a group.
fn scaled(a: &Numbers, scale: impl Fn(usize, usize) -> f64) -> Numbers {
    Numbers::matrix(a.shape[0], a.width(), |row, at| a.at(row, at) * 2f64.powf(scale(row, at / 32) - 127.0))
}

/// A scale out of blocks of 128 rows and 4 groups, each of which holds them as 32 × 4 × 4.
fn packed(scales: &Numbers, row: usize, group: usize) -> f64 {
    let across = scales.shape[2];
    let block = row / 128 * across + group / 4;
    scales.values[block * 512 + row % 32 * 16 + row % 128 / 32 * 4 + group % 4]
}

fn pooled(given: &Given) -> Numbers {
    let (x, starts, lengths) = (given.tensor("x_desc"), given.tensor("starts"), given.tensor("lengths"));
    Numbers::matrix(starts.values.len(), x.width(), |sequence, at| {
        let (start, length) = (starts.values[sequence] as usize, lengths.values[sequence] as usize);
        (start..start + length).map(|row| x.at(row, at)).sum::<f64>() / length.max(1) as f64
    })
}
