//! Values for parameters of which a launch says a part: what it says is kept, and the rest is chosen.

use super::Given;
use super::entries::Param;
use python::host::Partly;

/// An integer of which nothing is known, where a constant is given.
pub(super) const ANY_INTEGER: &str = "i32:1";

/// Whether a constant is an integer, known or not.
pub(super) fn is_integer(given: &Given) -> bool {
    match given {
        Given::Value(text) => text.parse::<i64>().is_ok(),
        Given::Type(_) => is_any_integer(given),
    }
}

/// Whether a constant is an integer of which nothing is known.
pub fn is_any_integer(given: &Given) -> bool {
    matches!(given, Given::Type(ty) if ty == ANY_INTEGER)
}

/// What a parameter is given, from what would be chosen if nothing were known of it.
pub(super) fn choices(partly: &Partly, param: &Param, chosen: Vec<Given>) -> Vec<Given> {
    let is = |given: &Given, start: &str| matches!(given, Given::Type(ty) if ty.starts_with(start));
    let or = |kept: Vec<Given>, other: Given| if kept.is_empty() { vec![other] } else { kept };
    let value = |text: &str| Given::Value(text.to_owned());
    match partly {
        Partly::Nothing(_) => match &param.default {
            Some(default) => vec![value(default)],
            None => chosen,
        },
        Partly::Pointer if param.constexpr => chosen,
        Partly::Pointer => {
            or(chosen.into_iter().filter(|given| is(given, "*")).collect(), Given::Type("*fp16".to_owned()))
        }
        Partly::Int => match &param.default {
            Some(default) => vec![value(default)],
            None => or(chosen.into_iter().filter(is_integer).collect(), value("16")),
        },
        Partly::Float => vec![value(param.default.as_deref().unwrap_or("1.0"))],
        Partly::Bool => vec![value("True"), value("False")],
        Partly::Truth(holds) => {
            let plain = if *holds { "True" } else { "False" };
            let or_plain = |kept: Vec<Given>| if param.constexpr { or(kept, value(plain)) } else { kept };
            or_plain(chosen.into_iter().filter(|given| may_hold(given, *holds)).collect())
        }
        Partly::Descriptor { im2col, element, block, layout } => {
            let like = chosen.iter().find_map(|given| match given {
                Given::Type(ty) if ty.starts_with("tensordesc") => Some(ty.as_str()),
                _ => None,
            });
            let (own_element, mut own_sizes) = parts(like.unwrap_or("tensordesc<fp16[128, 128]>"));
            if let Some(block) = block.as_ref().filter(|block| block.len() != own_sizes.len()) {
                own_sizes = parts(super::chosen::descriptor(u8::try_from(block.len()).unwrap_or(0))).1;
            }
            let by_width = || layout.as_deref().and_then(of_width).unwrap_or(own_element);
            let element = element.as_deref().unwrap_or_else(by_width);
            let sizes: Vec<String> = match block {
                Some(block) => {
                    let own = |at: usize| own_sizes.get(at).map_or("64", |size| *size).to_owned();
                    let sizes = block.iter().enumerate();
                    sizes.map(|(at, size)| size.map_or_else(|| own(at), |size| size.to_string())).collect()
                }
                None => own_sizes.iter().map(|size| (*size).to_owned()).collect(),
            };
            let name = if *im2col { "tensordesc_im2col" } else { "tensordesc" };
            let rank = if *im2col { ",input_rank=4" } else { "" };
            let layout = layout.as_ref().map_or(String::new(), |layout| format!(",{layout}"));
            vec![Given::Type(format!("{name}<{element}[{}]{rank}{layout}>", sizes.join(", ")))]
        }
    }
}

/// Whether what a parameter is given may hold, or not: it says itself which where it is a constant.
pub(super) fn may_hold(given: &Given, holds: bool) -> bool {
    match given {
        Given::Value(text) => holds != matches!(&**text, "False" | "None" | "0" | "0.0" | "''" | "\"\""),
        Given::Type(ty) => holds || !ty.starts_with('*'),
    }
}

/// Sizes to try for those of a block that are not known.
const SIZES: [i64; 9] = [1, 128, 64, 32, 256, 16, 2, 4, 8];

/// What else a descriptor can be of whose block a launch gives a part: other sizes in the other places.
pub(super) fn blocks(partly: &Partly, param: &Param, chosen: &[Given]) -> Vec<Given> {
    let Partly::Descriptor { im2col, element, block, layout } = partly else { return Vec::new() };
    let of = |block: Vec<Option<i64>>| {
        let whole = Partly::Descriptor {
            im2col: *im2col,
            element: element.clone(),
            block: Some(block),
            layout: layout.clone(),
        };
        choices(&whole, param, chosen.to_vec())
    };
    let Some(block) = block else { return Vec::new() };
    let open: Vec<usize> = (0..block.len()).filter(|at| block.get(*at).is_some_and(Option::is_none)).collect();
    let mut all = Vec::new();
    let mut with = |sizes: &dyn Fn(usize) -> i64| {
        let mut block = block.clone();
        for (nth, at) in open.iter().enumerate() {
            if let Some(size) = block.get_mut(*at) {
                *size = Some(sizes(nth));
            }
        }
        all.extend(of(block));
    };
    match open.len() {
        0 => return Vec::new(),
        1 => SIZES.into_iter().for_each(|size| with(&|_| size)),
        _ => {
            for size in SIZES {
                with(&|_| size);
            }
            for first in SIZES {
                for rest in SIZES.into_iter().filter(|rest| *rest != first) {
                    with(&|nth| if nth == 0 { first } else { rest });
                }
            }
        }
    }
    all
}

/// Element type and sizes of a descriptor's type.
fn parts(ty: &str) -> (&str, Vec<&str>) {
    let inner = ty.split_once('<').map_or(ty, |(_, inner)| inner);
    let (element, rest) = inner.split_once('[').unwrap_or(("fp16", "128, 128]"));
    let sizes = rest.split_once(']').map_or(rest, |(sizes, _)| sizes);
    (element, sizes.split(',').map(str::trim).filter(|size| !size.is_empty()).collect())
}

/// An element type of the width that a layout is made for.
fn of_width(layout: &str) -> Option<&'static str> {
    let (_, rest) = layout.split_once("element_bitwidth=")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(match digits.as_str() {
        "8" => "fp8e4nv",
        "16" => "fp16",
        "32" => "fp32",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::domain::Open;
    use super::super::usage::ParamUse;
    use super::*;

    fn param(constexpr: bool, default: Option<&str>) -> Param {
        Param {
            name: "p".to_owned(),
            range: base::TextRange::default(),
            constexpr,
            annotation: None,
            default: default.map(str::to_owned),
            used: ParamUse::default(),
            members: Vec::new(),
            specialised: true,
        }
    }

    #[test]
    fn what_is_known_is_kept() {
        let chosen = || vec![Given::Type("tensordesc<fp16[128, 128]>".to_owned())];
        let layout = "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=8, rank=2)";
        let partly = Partly::Descriptor {
            im2col: false,
            element: None,
            block: Some(vec![Some(64), None]),
            layout: Some(layout.to_owned()),
        };
        let expected = format!("tensordesc<fp8e4nv[64, 128],{layout}>");
        assert_eq!(choices(&partly, &param(false, None), chosen()), [Given::Type(expected)]);
        let pointer = choices(&Partly::Pointer, &param(false, None), vec![Given::Type("i32".to_owned())]);
        assert_eq!(pointer, [Given::Type("*fp16".to_owned())]);
        let value = |text: &str| Given::Value(text.to_owned());
        assert_eq!(choices(&Partly::Int, &param(true, None), vec![value("True"), value("2")]), [value("2")]);
        assert_eq!(choices(&Partly::Nothing(String::new()), &param(true, Some("8")), Vec::new()), [value("8")]);
    }

    #[test]
    fn a_layout_of_a_block_that_is_not_known_may_be_of_another_way() {
        let ty = |text: &str| Given::Type(text.to_owned());
        let (rows, tile) = (ty("tensordesc<fp16[1, 128]>"), ty("tensordesc<fp16[128, 128]>"));
        let mut open = Open {
            name: "p".to_owned(),
            choices: vec![rows.clone()],
            domain: vec![rows.clone(), tile.clone(), ty("*fp16")],
            wait: false,
            default: None,
        };
        let layout = Some("NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=8, rank=5)".to_owned());
        let partly = Partly::Descriptor { im2col: false, element: None, block: None, layout };
        open.keep(&partly, &param(false, None));
        assert_eq!(open.domain.get(1..), Some(&[rows, tile][..]), "{:?}", open.domain);
    }
}
