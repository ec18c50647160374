//! What functions and methods of PyTorch do with their tensors, as their names say.

/// Whether a call of a library writes to none of its tensors; that of a method is looked at there.
pub fn reads(path: &str) -> bool {
    let name = path.strip_prefix("torch.").unwrap_or("");
    path.starts_with("triton.")
        || path.starts_with("torch.Tensor.")
        || !(name.is_empty() || name.contains('.') || name.ends_with('_'))
}

/// Functions and methods whose result has the shape of their one tensor, element by element or elsewhere.
const UNARY: &[&str] = &[
    "abs", "ceil", "clamp", "clip", "clone", "cos", "cpu", "cuda", "cumprod", "cumsum", "detach", "dropout", "erf",
    "exp", "exp2", "expm1", "flip", "floor", "gelu", "log", "log10", "log1p", "log2", "neg", "negative", "relu",
    "roll", "round", "rsqrt", "sigmoid", "sign", "silu", "sin", "softmax", "sqrt", "square", "tanh", "tril", "triu",
    "trunc",
];

/// Methods that write the tensor itself.
const IN_PLACE: &[&str] =
    &["add_", "copy_", "div_", "fill_", "mul_", "normal_", "pow_", "random_", "sub_", "uniform_", "zero_"];

/// Whether what a method answers is its tensor, or a view of all of it.
pub fn keeps_memory(name: &str) -> bool {
    IN_PLACE.contains(&name)
        || matches!(
            name,
            // That of Triton's own tensors of small types.
            "random"
                | "cuda"
                | "detach"
                | "exponential_"
                | "index_add_"
                | "index_copy_"
                | "index_fill_"
                | "masked_fill_"
                | "requires_grad_"
                | "scatter_"
                | "scatter_add_"
        )
        || name.strip_suffix('_').is_some_and(|name| UNARY.contains(&name))
}

/// Whether what a function or a method answers has the shape of its tensor.
pub fn keeps_shape(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    let unary = UNARY.contains(&name.strip_suffix('_').unwrap_or(name));
    let long = matches!(
        name,
        "exponential_" | "log_softmax" | "masked_fill_" | "pin_memory" | "reciprocal" | "requires_grad_"
    );
    unary || long || IN_PLACE.contains(&name)
}
