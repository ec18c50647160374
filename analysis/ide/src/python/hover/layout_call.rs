//! The layout that the call of a layout class makes.

use ruff_python_ast::{Expr, ExprCall};

use gluon::{default_swizzle, forms};
use ttgir::layout::{Field, LayoutSpec};

/// The layout that a call makes; `path` is the full name of what is called, `value` says what arguments come to.
pub(super) fn layout_of_call(
    path: &str,
    call: &ExprCall,
    value: &dyn Fn(&Expr) -> Option<Field>,
) -> Option<LayoutSpec> {
    let form = *forms(path, gluon::Version::default()).first()?;
    let argument = |name: &str| {
        let params = form.params.split(", ").map(|param| param.split('=').next().unwrap_or(param).trim());
        let at = params.clone().position(|param| param == name)?;
        let own = call.arguments.find_argument_value(name, at)?;
        value(own)
    };
    let number = |name: &str| match argument(name) {
        Some(Field::Int(number)) => Some(number),
        _ => None,
    };
    let fields = |kind: &str, names: &[(&str, &str)]| {
        let fields = names.iter().filter_map(|(python, ir)| Some(((*ir).to_owned(), argument(python)?)));
        Some(LayoutSpec { kind: kind.to_owned(), fields: fields.collect() })
    };
    let name = form.path.rsplit_once(".NVMMASharedLayout.").map_or_else(
        || form.path.rsplit('.').next().unwrap_or(form.path),
        |(_, method)| if method == "get_default_for" { "get_default_for" } else { method },
    );
    match name {
        "BlockedLayout" => fields(
            "ttg.blocked",
            &[
                ("size_per_thread", "sizePerThread"),
                ("threads_per_warp", "threadsPerWarp"),
                ("warps_per_cta", "warpsPerCTA"),
                ("order", "order"),
            ],
        ),
        "SliceLayout" => fields("ttg.slice", &[("dim", "dim"), ("parent", "parent")]),
        "NVMMASharedLayout" => fields(
            "ttg.nvmma_shared",
            &[
                ("swizzle_byte_width", "swizzlingByteWidth"),
                ("element_bitwidth", "elementBitWidth"),
                ("transposed", "transposed"),
                ("fp4_padded", "fp4Padded"),
            ],
        ),
        "get_default_for" => {
            let Some(Field::List(block)) = argument("block_shape") else { return None };
            let block: Option<Vec<i64>> =
                block.iter().map(|size| if let Field::Int(size) = size { Some(*size) } else { None }).collect();
            let Some(Field::Word(dtype)) = argument("dtype") else { return None };
            let bits = bits(&dtype)?;
            let (transposed, padded) = (number("transposed") == Some(1), number("fp4_padded") == Some(1));
            let swizzle = default_swizzle(&block?, bits, transposed, padded)?;
            let named = |name: &str, value: i64| (name.to_owned(), Field::Int(value));
            let fields = vec![
                named("swizzlingByteWidth", swizzle),
                named("elementBitWidth", bits.into()),
                named("transposed", transposed.into()),
                named("fp4Padded", padded.into()),
            ];
            Some(LayoutSpec { kind: "ttg.nvmma_shared".to_owned(), fields })
        }
        "SwizzledSharedLayout" => fields(
            "ttg.swizzled_shared",
            &[("vec", "vec"), ("per_phase", "perPhase"), ("max_phase", "maxPhase"), ("order", "order")],
        ),
        "NVMMADistributedLayout" => {
            let mut made =
                fields("ttg.nvidia_mma", &[("warps_per_cta", "warpsPerCTA"), ("instr_shape", "instrShape")])?;
            if let Some(Field::List(version)) = argument("version") {
                made.fields.extend(["versionMajor", "versionMinor"].map(str::to_owned).into_iter().zip(version));
            }
            Some(made)
        }
        "DotOperandLayout" => {
            fields("ttg.dot_op", &[("operand_index", "opIdx"), ("parent", "parent"), ("k_width", "kWidth")])
        }
        "DistributedLinearLayout" => {
            fields("ttg.linear", &[("reg_bases", "register"), ("lane_bases", "lane"), ("warp_bases", "warp")])
        }
        "SharedLinearLayout" => fields("ttg.shared_linear", &[("offset_bases", "offset")]),
        "PaddedSharedLayout" => {
            let Some(Field::List(pairs)) = argument("interval_padding_pairs") else { return None };
            let words = pairs.iter().map(|pair| match pair {
                Field::List(pair) => match pair.as_slice() {
                    [Field::Int(every), Field::Int(by)] => Some(Field::Word(format!("{every}:+{by}"))),
                    _ => None,
                },
                _ => None,
            });
            let words = words.collect::<Option<Vec<_>>>()?;
            let fields = vec![(String::new(), Field::List(words))];
            Some(LayoutSpec { kind: "ttg.padded_shared".to_owned(), fields })
        }
        "TensorMemoryLayout" => {
            let mut made = fields(
                "ttng.tensor_memory_encoding",
                &[("col_stride", "colStride"), ("two_ctas", "twoCTAs"), ("fp4_padded", "fp4Padded")],
            )?;
            if let Some(Field::List(block)) = argument("block") {
                made.fields.extend(["blockM", "blockN"].map(str::to_owned).into_iter().zip(block));
            }
            Some(made)
        }
        "TensorMemoryScalesLayout" => fields("ttng.tensor_memory_scales_encoding", &[]),
        "AMDMFMALayout" | "AMDWMMALayout" => fields(
            if name.contains("MFMA") { "ttg.amd_mfma" } else { "ttg.amd_wmma" },
            &[("warps_per_cta", "warpsPerCTA"), ("instr_shape", "instrShape"), ("transposed", "isTransposed")],
        ),
        "MBarrierLayout" => {
            let one = |name: &str| (name.to_owned(), Field::Int(1));
            let order = ("order".to_owned(), Field::List(vec![Field::Int(0)]));
            let fields = vec![one("vec"), one("perPhase"), one("maxPhase"), order];
            Some(LayoutSpec { kind: "ttg.swizzled_shared".to_owned(), fields })
        }
        _ => None,
    }
}

/// The width of an element type by its full name: `gl.float16`.
fn bits(dtype: &str) -> Option<u32> {
    let name = dtype.rsplit('.').next()?;
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok().filter(|bits| matches!(bits, 1 | 8 | 16 | 32 | 64))
}
