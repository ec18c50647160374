//! Values that nobody gives: small ones, by name and use, so that the kernel can be looked at at all.
//!
//! Depths are 2 and 3, since a ring's mistakes show in one of them; what is switched on or off is both.
//! Blocks and descriptors are square, so that products of tiles fit whatever is transposed.

use super::entries::{Entry, Param};
use super::survey::Survey;
use super::usage::ParamUse;
use super::{Given, Target};
use crate::limits::chosen::CLASSES;

/// What a parameter without a value or a default is given, the likeliest first; empty where no choice is
/// sensible.
pub(super) fn choices(survey: &Survey<'_>, param: &Param) -> Vec<Given> {
    let name = param.name.to_ascii_lowercase();
    let value = |text: &str| vec![Given::Value(text.to_owned())];
    let ty = |text: &str| vec![Given::Type(text.to_owned())];
    if !param.constexpr {
        return match param.used {
            ParamUse::Pointer => ty("*fp16"),
            ParamUse::IntegerPointer => ty("*i32"),
            ParamUse::Descriptor(rank) => ty(descriptor(rank)),
            ParamUse::Scalar | ParamUse::Number => ty("i32"),
            ParamUse::DType => value("fp16"),
            ParamUse::Callable | ParamUse::Layout | ParamUse::Memory | ParamUse::Object => Vec::new(),
            ParamUse::Unseen if is_descriptor(&name) => ty(descriptor(0)),
            ParamUse::Unseen
                if has(&name, &["ptr", "input", "output", "tensor"]) || is(&name, &["out", "inp", "x", "y"]) =>
            {
                ty("*fp16")
            }
            ParamUse::Unseen => ty("i32"),
        };
    }
    match param.used {
        ParamUse::Layout | ParamUse::Callable | ParamUse::Memory if param.members.is_empty() => {
            return Vec::new();
        }
        ParamUse::Layout | ParamUse::Callable | ParamUse::Object | ParamUse::Memory => {
            let has = |names: &[&str]| param.members.iter().all(|member| names.contains(&member.as_str()));
            let fitting = survey.classes.iter().filter(|(_, names)| has(names));
            return fitting.take(CLASSES).map(|(class, _)| Given::Value((*class).to_owned())).collect();
        }
        ParamUse::DType => return value("fp16"),
        _ => {}
    }
    if has(&name, &["dtype"]) || name.ends_with("_ty") || name.ends_with("_type") {
        return value("fp16");
    }
    if has(&name, &["layout"]) || name.ends_with("impl") {
        return Vec::new();
    }
    if is_depth(&name) {
        return vec![Given::Value("2".to_owned()), Given::Value("3".to_owned())];
    }
    if name == "num_warps" || name.ends_with("_warps") {
        return value("4");
    }
    if is_switch(&param.name, &name) {
        return vec![Given::Value("True".to_owned()), Given::Value("False".to_owned())];
    }
    if has(&name, &["group"]) {
        return value("8");
    }
    if has(&name, &["factor", "split", "num_", "stride"]) {
        return value("2");
    }
    value("128")
}

/// Whether a word of it says descriptor; `descale` is none.
fn is_descriptor(name: &str) -> bool {
    let mut words = name.split('_');
    words.any(|word| word.starts_with("descr") || word.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("desc"))
}

/// Whether it counts slots.
pub(super) fn is_depth(name: &str) -> bool {
    let ends = ["buffers", "stages", "depth", "slots", "bufs"];
    ends.iter().any(|end| name.ends_with(end)) || has(name, &["num_buffer", "num_stage", "pipeline_depth"])
}

/// Whether it is switched on or off.
fn is_switch(name: &str, lower: &str) -> bool {
    let starts = ["is_", "use_", "has_", "enable", "disable", "with_", "no_", "do_", "transpose", "causal"];
    let words = ["failure", "multicast", "two_cta", "causal", "persistent", "debug", "missing", "barrier", "flag"];
    starts.iter().any(|start| lower.starts_with(start))
        || words.iter().any(|word| lower.contains(word))
        || (name.chars().all(|c| c.is_ascii_uppercase() || c == '_') && lower.ends_with("_in_reg"))
}

pub(super) fn descriptor(rank: u8) -> &'static str {
    match rank {
        1 => "tensordesc<fp16[128]>",
        3 => "tensordesc<fp16[1, 128, 64]>",
        4 => "tensordesc<fp16[1, 1, 128, 64]>",
        // Scales of a block of 128 rows, as `tcgen05` wants them packed.
        5 => "tensordesc<fp16[1, 1, 1, 2, 256]>",
        _ => "tensordesc<fp16[128, 128]>",
    }
}

fn has(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| name.contains(word))
}

fn is(name: &str, words: &[&str]) -> bool {
    words.contains(&name)
}

/// The target that what a kernel and its helpers call asks for.
pub(super) fn target(survey: &Survey<'_>, entry: &Entry) -> Target {
    let Some(start) = survey.functions.iter().position(|func| func.start() == entry.def) else {
        return Target::Cuda(90);
    };
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        let mentions = &survey.functions[at].mentions;
        for (other, func) in survey.functions.iter().enumerate() {
            if !reached.contains(&other) && func.device() && mentions.contains(func.def.name.as_str()) {
                reached.push(other);
            }
        }
    }
    let any = |test: &dyn Fn(&str) -> bool| {
        // Only whether there is one: the order does not matter.
        #[allow(clippy::iter_over_hash_type)]
        for &at in &reached {
            for name in &survey.functions[at].mentions {
                if test(name) {
                    return true;
                }
            }
        }
        false
    };
    if any(&|name| matches!(name, "cdna5" | "gfx1250" | "tdm") || survey.imported(name, &["cdna5", "gfx1250"])) {
        Target::Gfx1250
    } else if any(&|name| name == "cdna4" || survey.imported(name, &["cdna4"])) {
        Target::Gfx950
    } else if any(&|name| name == "cdna3" || survey.imported(name, &["cdna3"])) {
        Target::Gfx942
    } else if any(&|name| {
        name.starts_with("tcgen05") || matches!(name, "clc" | "allocate_tensor_memory" | "TensorMemoryLayout")
    }) {
        Target::Cuda(100)
    } else {
        Target::Cuda(90)
    }
}
