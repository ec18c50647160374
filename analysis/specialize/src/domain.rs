//! What a parameter that nobody gives can be: the values to start with, and those to try where these are
//! refused, the likeliest first.
//!
//! What the kernel does with the value comes first, then the constants that it compares it with, and the name
//! last.

use super::chosen;
use super::entries::Param;
use super::flow::{Facts, Traits};
use super::partly;
use super::survey::Survey;
use super::usage::ParamUse;
use super::{Given, Target};
use python::host::Partly;
use python::specialization::Language;

/// A parameter that nobody gives a value.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub name: String,
    /// Values that are worth an instance each.
    pub choices: Vec<Given>,
    /// All values that may be tried, the likeliest first; begins with `choices`.
    pub domain: Vec<Given>,
    /// Whether it counts what a wait leaves open: such a number decides what the kernel means.
    pub wait: bool,
    /// Its default, where it has one: it holds unless it is refused.
    pub default: Option<Given>,
}

impl Open {
    /// Keeps to what a launch says of it.
    pub(super) fn keep(&mut self, partly: &Partly, param: &Param) {
        let counts = self.wait && !matches!(partly, Partly::Nothing(_));
        if counts {
            return;
        }
        let pointer = |given: &Given| matches!(given, Given::Type(ty) if ty.starts_with('*'));
        let number = |given: &Given| partly::is_integer(given);
        let is_descriptor = |given: &Given| matches!(given, Given::Type(ty) if ty.starts_with("tensordesc"));
        let blocks = partly::blocks(partly, param, &self.choices);
        self.choices = partly::choices(partly, param, std::mem::take(&mut self.choices));
        match partly {
            Partly::Pointer if !param.constexpr => self.domain.retain(pointer),
            Partly::Int => self.domain.retain(number),
            Partly::Pointer | Partly::Nothing(_) => {}
            Partly::Truth(holds) => self.domain.retain(|given| partly::may_hold(given, *holds)),
            // Of one whose block is not known, the layout may be that of another way through the host code.
            Partly::Descriptor { im2col: false, block: None, .. } => self.domain.retain(is_descriptor),
            Partly::Descriptor { .. } => self.domain = blocks,
            Partly::Float | Partly::Bool => self.domain.clear(),
        }
        let others = std::mem::take(&mut self.domain);
        self.domain.clone_from(&self.choices);
        self.domain.extend(others.into_iter().filter(|given| !self.choices.contains(given)));
    }
}

/// Element types, the likeliest first.
const TYPES: [&str; 8] = ["fp16", "bf16", "fp32", "fp8e4nv", "u8", "i32", "i8", "fp8e5"];

const NUMBERS: [&str; 12] = ["128", "64", "32", "16", "256", "8", "4", "2", "1", "512", "1024", "0"];

/// The most slots of a ring that are tried: the largest of [`DEPTHS`].
pub(super) const MOST_SLOTS: i64 = 16;

/// Slots of a ring, the likeliest first.
const DEPTHS: [&str; 10] = ["2", "3", "4", "1", "8", "5", "6", "7", "16", "0"];

/// Sizes of a descriptor's block.
const BLOCKS: [(u64, u64); 6] = [(128, 128), (128, 64), (64, 128), (64, 64), (256, 64), (32, 32)];

/// What is open of a parameter without a value or a default.
pub(super) fn open(
    survey: &Survey<'_>,
    language: Language,
    param: &Param,
    facts: &Facts,
    (target, warps): (Target, u32),
) -> Open {
    let lower = param.name.to_ascii_lowercase();
    let traits = facts.traits;
    let wait = param.constexpr
        && traits.has(Traits::WAIT)
        && !traits.has(Traits::SIZE)
        && !traits.has(Traits::INDEX)
        && !chosen::is_depth(&lower);
    let default = param.default.clone().map(Given::Value);
    let mut open = Open { name: param.name.clone(), choices: Vec::new(), domain: Vec::new(), wait, default };
    if wait {
        return open;
    }
    let (mut choices, mut others) = if param.constexpr {
        constants(survey, param, facts, &lower, target, warps)
    } else {
        arguments(survey, param, facts)
    };
    // Sizes of Gluon's layouts are constants; strides are none of them, nor is how much each part of several has.
    let measures = language == Language::Triton || is_measure(&lower);
    if param.constexpr && measures && is_quantity(param, facts, &lower, &choices) {
        others.splice(0..0, std::mem::take(&mut choices));
        choices = types([partly::ANY_INTEGER]);
    }
    if language == Language::Triton {
        let (first, all) = (std::mem::take(&mut choices), std::mem::take(&mut others));
        (choices, others) = (wide(first, &lower), wide(all, &lower));
    }
    for given in choices.iter().chain(&others) {
        if !open.domain.contains(given) {
            open.domain.push(given.clone());
        }
    }
    open.choices = choices;
    if open.choices.is_empty() {
        open.choices.extend(open.domain.first().cloned());
    }
    open
}

/// Whether a constant only counts or measures what the kernel works on, so that the kernel is the same for all of them.
fn is_quantity(param: &Param, facts: &Facts, lower: &str, choices: &[Given]) -> bool {
    let shapes = [Traits::SIZE, Traits::COUNT, Traits::EXTENT, Traits::FLAG, Traits::DTYPE, Traits::CALLED];
    let known = !facts.compared.is_empty() || !facts.demanded.is_empty() || facts.parts > 0;
    let tile = ["block", "tile", "chunk", "group", "split", "warp", "stage", "factor", "num_c"];
    let tile = !is_measure(lower) && tile.iter().any(|word| lower.contains(word));
    let short = lower.len() <= 3 && lower.starts_with('b') && lower != "b";
    let number = |given: &Given| matches!(given, Given::Value(text) if text.parse::<i64>().is_ok());
    !known
        && param.default.is_none()
        && !shapes.iter().any(|of| facts.traits.has(*of))
        && !tile
        && !short
        && !choices.is_empty()
        && choices.iter().all(number)
}

/// Whether a name is that of a stride or of how much each part has: `stride_block` is that of blocks, and no block.
fn is_measure(lower: &str) -> bool {
    lower.contains("stride") || (lower.contains("split") && lower.contains("size"))
}

/// Pointers of plain kernels: to `float32` where nothing else shows, and to integers where the name says so.
fn wide(choices: Vec<Given>, lower: &str) -> Vec<Given> {
    let words = ["seqlen", "indices", "index", "idx", "offsets", "lens", "table", "slot", "position", "_ids"];
    let first = if words.iter().any(|word| lower.contains(word)) { "*i32" } else { "*fp32" };
    let (mut pointers, mut all) = (choices.iter().any(|given| *given == Given::Type("*fp16".to_owned())), Vec::new());
    for given in choices {
        let is_pointer = matches!(&given, Given::Type(ty) if ty.starts_with('*'));
        if is_pointer && std::mem::take(&mut pointers) {
            all.push(Given::Type(first.to_owned()));
        }
        if !all.contains(&given) {
            all.push(given);
        }
    }
    // One that is chosen alone is this one.
    if let [Given::Type(_), Given::Type(other)] = &all[..]
        && other == "*fp16"
    {
        all.truncate(1);
    }
    all
}

fn values<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<Given> {
    texts.into_iter().map(|text| Given::Value(text.to_owned())).collect()
}

fn types<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<Given> {
    texts.into_iter().map(|text| Given::Type(text.to_owned())).collect()
}

/// Of a parameter that is no constexpr.
fn arguments(survey: &Survey<'_>, param: &Param, facts: &Facts) -> (Vec<Given>, Vec<Given>) {
    let annotation = param.annotation.as_deref().unwrap_or("");
    let annotated = [("int64", "i64"), ("uint32", "u32"), ("int", "i32"), ("float", "fp32"), ("bool", "i1")];
    if !annotation.contains(['*', '['])
        && !annotation.to_ascii_lowercase().contains("tensor")
        && let Some((_, ty)) = annotated.iter().find(|(word, _)| annotation.contains(word))
    {
        return (types([*ty]), types(["i32", "fp32", "None"]));
    }
    let traits = facts.traits;
    let pointers = |integers: bool| {
        // A number that is read from memory is an index: one of 8 bits would wrap.
        let types =
            ["fp16", "bf16", "fp32", "fp8e4nv", "i32", "u8", "i8", "fp8e5", "i64", "i1"].map(|ty| format!("*{ty}"));
        let mut all: Vec<Given> = types.map(Given::Type).into();
        if integers {
            all.sort_by_key(|given| !matches!(given, Given::Type(ty) if ty == "*i32" || ty == "*i64"));
        }
        all
    };
    let address = traits.has(Traits::POINTER) || traits.has(Traits::LOADS_INDEX);
    if traits.has(Traits::DESCRIPTOR) && !address {
        return match traits.has(Traits::ROWS) {
            true => (types(["tensordesc<fp16[1, 128]>"]), rows()),
            false => (types([chosen::descriptor(facts.rank as u8)]), descriptors(facts.rank)),
        };
    }
    if address {
        let mut all = pointers(traits.has(Traits::LOADS_INDEX));
        let first = all.first().cloned();
        all.extend(types(["None"]));
        if traits.has(Traits::DESCRIPTOR) {
            all.extend(descriptors(facts.rank));
        }
        return (first.into_iter().collect(), all);
    }
    let stride = param.name.to_ascii_lowercase().contains("stride") && facts.parts == 0;
    if traits.has(Traits::NUMBER) || stride {
        let scalar = matches!(param.used, ParamUse::Unseen | ParamUse::Scalar | ParamUse::Number);
        let integer = stride || traits.has(Traits::INDEX) || !scalar;
        let first = if integer { "i32" } else { "fp32" };
        let chosen: Vec<Given> = chosen::choices(survey, param).into_iter().filter(is_scalar).collect();
        let first = if chosen.is_empty() { types([first]) } else { chosen };
        return (first, types(["i32", "fp32", "i64", "None"]));
    }
    let mut choices = chosen::choices(survey, param);
    let mut others = Vec::new();
    if facts.parts > 0 && !traits.has(Traits::INDEX) {
        let tuple = |ty: &str| Given::Type(format!("({})", vec![ty; facts.parts].join(", ")));
        choices = vec![tuple("i32")];
        others.push(tuple("*fp16"));
        others.push(Given::Value("()".to_owned()));
        for parts in 1..=4 {
            others.push(Given::Type(format!("({})", vec!["i32"; parts].join(", "))));
        }
    } else if traits.has(Traits::INDEX) {
        choices = types(["i32"]);
    } else if facts.compared.iter().any(|text| text == "None") {
        choices = types(["*fp16"]);
    }
    let is_descriptor = choices.iter().any(|given| matches!(given, Given::Type(ty) if ty.starts_with("tensordesc")));
    if is_descriptor {
        others.extend(descriptors(0));
    }
    others.extend(types(["i32", "fp32"]));
    others.extend(pointers(false));
    others.extend(types(["None", "i64", "tensordesc<fp16[128, 128]>"]));
    (choices, others)
}

/// Descriptors through which rows are gathered, of some element types and lengths.
fn rows() -> Vec<Given> {
    let lengths = [128, 64, 256, 32, 16, 512];
    let of = |length: u32| {
        let element = move |element| Given::Type(format!("tensordesc<{element}[1, {length}]>"));
        ["fp16", "bf16", "fp8e4nv", "u8", "fp32"].map(element)
    };
    let mut all: Vec<Given> = lengths.into_iter().flat_map(of).collect();
    all.sort_by_key(|given| !matches!(given, Given::Type(ty) if ty.contains("fp16[")));
    all
}

fn descriptors(rank: usize) -> Vec<Given> {
    let mut all = Vec::new();
    let ranks = if rank == 0 { vec![2, 1, 3, 4] } else { vec![rank, 2] };
    for (at, rank) in ranks.into_iter().enumerate() {
        for (rows, columns) in BLOCKS {
            let shape = match rank {
                1 => format!("{columns}"),
                2 => format!("{rows}, {columns}"),
                _ => format!("{}{rows}, {columns}", "1, ".repeat(rank - 2)),
            };
            let elements: &[&str] = if at == 0 { &["fp16", "bf16", "fp8e4nv", "u8", "fp32"] } else { &["fp16"] };
            all.extend(elements.iter().map(|element| Given::Type(format!("tensordesc<{element}[{shape}]>"))));
        }
    }
    all.sort_by_key(|given| !matches!(given, Given::Type(ty) if ty.contains("fp16[")));
    all
}

/// The name of a class.
fn is_name(given: &Given) -> bool {
    matches!(given, Given::Value(text) if text.starts_with(|c: char| c.is_ascii_uppercase()) && !matches!(text.as_str(), "True" | "False" | "None"))
}

/// An integer or a float.
fn is_scalar(given: &Given) -> bool {
    matches!(given, Given::Type(ty) if !ty.starts_with(['*', '(']) && !ty.starts_with("tensordesc"))
}

/// Of a constexpr.
fn constants(
    survey: &Survey<'_>,
    param: &Param,
    facts: &Facts,
    lower: &str,
    target: Target,
    warps: u32,
) -> (Vec<Given>, Vec<Given>) {
    let traits = facts.traits;
    let texts = |list: &[String]| list.iter().map(|text| Given::Value(text.clone())).collect::<Vec<Given>>();
    let demanded = texts(&facts.demanded);
    let compared = texts(&facts.compared);
    let layouts = layouts(traits, lower, target, warps);
    let is_type = |given: &&Given| matches!(given, Given::Value(text) if python::value::DType::named(text).is_some());
    let is_text = |given: &&Given| matches!(given, Given::Value(text) if text.starts_with('\''));
    let is_truth = |given: &&Given| matches!(given, Given::Value(text) if text == "True" || text == "False");
    let is_number = |given: &&Given| matches!(given, Given::Value(text) if text.parse::<i64>().is_ok());
    let all = || demanded.iter().chain(&compared);
    let named = chosen::choices(survey, param);
    let numeric = traits.has(Traits::SIZE) || traits.has(Traits::INDEX);
    let strings = strings(facts);
    let classes = if named.iter().any(is_name) { Vec::new() } else { texts(&facts.classes) };
    let depth = chosen::is_depth(lower) || (traits.has(Traits::SLOTS) && named == values(["128"]));
    let tuple = |item: &str| Given::Value(format!("({},)", vec![item; facts.parts].join(", ")));
    // Which of a few ways, as a number: `mode >= 0`, `mode == 1`.
    let mode = compared.iter().find(is_number).filter(|_| !traits.has(Traits::SIZE));
    let mut others = demanded.clone();
    let choices = if let Some(first) = demanded.first() {
        vec![first.clone()]
    } else if let Some(first) = strings.first() {
        vec![first.clone()]
    } else if !classes.is_empty() {
        classes.iter().take(1).cloned().collect()
    } else if all().any(|given| is_text(&given)) {
        // None of the cases that a text switches on; they are tried where this is refused.
        values(["''"])
    } else if !layouts.is_empty() {
        layouts.iter().take(1).cloned().collect()
    } else if facts.parts > 0 {
        vec![tuple("1")]
    } else if traits.has(Traits::DTYPE) || (all().any(|given| is_type(&given)) && !numeric) {
        values(["fp16"])
    } else if traits.has(Traits::CALLED) {
        named
    } else if !numeric && (all().any(|given| is_truth(&given)) || is_switch(facts, &compared)) {
        values(["True", "False"])
    } else if let Some(mode) = mode.filter(|mode| !named.iter().any(|given| compared.contains(given) || given == *mode))
    {
        vec![mode.clone()]
    } else if depth && named == values(["128"]) {
        values(["2", "3"])
    } else if traits.has(Traits::COUNT) && !traits.has(Traits::EXTENT) && named == values(["128"]) {
        // What is unrolled that often is long enough in the text.
        values(["4"])
    } else {
        named
    };
    others.extend(strings);
    others.extend(classes);
    others.extend(compared.iter().cloned());
    others.extend(layouts.iter().cloned());
    if traits.has(Traits::DTYPE) || all().any(|given| is_type(&given)) {
        others.extend(values(TYPES));
    }
    if traits.has(Traits::CALLED) {
        others.extend(functions(survey, param));
        others.extend(values(["None"]));
    }
    if all().any(|given| is_truth(&given)) || traits.has(Traits::FLAG) {
        others.extend(values(["True", "False"]));
    }
    let numbers =
        numeric || all().any(|given| is_number(&given)) || (layouts.is_empty() && !traits.has(Traits::CALLED));
    if numbers && !all().any(|given| is_text(&given)) {
        let fits = |text: &&str| {
            let number = text.parse::<i64>().unwrap_or(0);
            facts.divisors.iter().all(|divisor| *divisor != 0 && number != 0 && number % divisor == 0)
        };
        let numbers = if depth { &DEPTHS[..] } else { &NUMBERS[..] };
        others.extend(values(numbers.iter().copied().filter(fits)));
        others.extend(facts.divisors.iter().map(|divisor| Given::Value(divisor.to_string())));
        others.extend(values(numbers.iter().copied()));
        if !numeric {
            others.extend(values(["False", "True", "None", "fp16", "1.0"]));
        }
    }
    if facts.parts > 0 {
        others.splice(0..0, [tuple("1"), tuple("128"), tuple("True")]);
    }
    (choices, others)
}

/// Strings whose letters are compared: with the letters, and with none of them.
fn strings(facts: &Facts) -> Vec<Given> {
    let Some(last) = facts.letters.iter().map(|(at, _)| *at).max() else { return Vec::new() };
    let length = facts.parts.max(last.saturating_add(1)).min(8);
    let other = ['N', 'X', '_'].into_iter().find(|c| !facts.letters.iter().any(|(_, letter)| letter == c));
    let spelled = |known: bool| {
        let letter = |at: usize| facts.letters.iter().find(|(of, _)| known && *of == at).map(|(_, letter)| *letter);
        let text: String = (0..length).filter_map(|at| letter(at).or(other)).collect();
        Given::Value(format!("'{text}'"))
    };
    vec![spelled(true), spelled(false)]
}

/// A bare condition that is compared with no number.
fn is_switch(facts: &Facts, compared: &[Given]) -> bool {
    facts.traits.has(Traits::FLAG) && compared.iter().all(|given| matches!(given, Given::Value(text) if text == "None"))
}

/// Functions of the file that run in a kernel, for a parameter that is called.
fn functions(survey: &Survey<'_>, param: &Param) -> Vec<Given> {
    let free = survey.functions.iter().filter(|func| func.device() && !func.method && func.inside.is_empty());
    let fitting = free.filter(|func| func.returns && func.def.name.as_str() != param.name);
    fitting.map(|func| Given::Value(func.def.name.to_string())).take(6).collect()
}

/// Layouts for what a parameter is used as.
fn layouts(traits: Traits, lower: &str, target: Target, warps: u32) -> Vec<Given> {
    let named = lower.contains("layout");
    let shared = traits.has(Traits::SHARED) || (named && (lower.contains("shared") || lower.contains("smem")));
    let registers = traits.has(Traits::LAYOUT) || traits.has(Traits::MMA) || named;
    let text = |texts: Vec<String>| texts.into_iter().map(Given::Value).collect::<Vec<Given>>();
    if traits.has(Traits::TENSOR_MEMORY) {
        return text(vec![
            "gl.nvidia.blackwell.TensorMemoryLayout([128, 128], col_stride=1)".to_owned(),
            "gl.nvidia.blackwell.TensorMemoryLayout([128, 64], col_stride=1)".to_owned(),
            "gl.nvidia.blackwell.TensorMemoryScalesLayout()".to_owned(),
        ]);
    }
    let swizzled = |order: &str| format!("gl.SwizzledSharedLayout(1, 1, 1, order=[{order}])");
    let mut all = Vec::new();
    if shared {
        let nvidia = ["gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)".to_owned()];
        let plain = [swizzled("1, 0"), swizzled("0"), swizzled("2, 1, 0"), swizzled("3, 2, 1, 0")];
        match target {
            Target::Cuda(_) => all.extend(nvidia.into_iter().chain(plain)),
            _ => all.extend(plain),
        }
        return text(all);
    }
    if !registers {
        return Vec::new();
    }
    let mma = mma(target, warps);
    let lanes = target.lanes();
    let blocked = [
        format!("gl.BlockedLayout([1, 4], [{}, 4], [{warps}, 1], [1, 0])", lanes / 4),
        format!("gl.BlockedLayout([1], [{lanes}], [{warps}], [0])"),
        format!("gl.BlockedLayout([1, 1, 4], [1, {}, 4], [1, {warps}, 1], [2, 1, 0])", lanes / 4),
    ];
    let operand = |at: u32, width: u32| format!("gl.DotOperandLayout({at}, {mma}, {width})");
    let dot = lower.contains("dot") || lower.contains("operand");
    if traits.has(Traits::MMA) || lower.contains("mma") || lower.contains("acc") {
        all.push(mma.clone());
    }
    if dot {
        let second = lower.ends_with("_b") || lower.contains("_b_") || lower.ends_with("_w") || lower.ends_with("_k");
        let (first, other) = if second { (1, 0) } else { (0, 1) };
        all.extend([operand(first, 8), operand(other, 8), operand(first, 16), operand(other, 16)]);
    }
    all.push("gl.AutoLayout()".to_owned());
    all.extend(blocked.iter().cloned());
    all.extend([format!("gl.SliceLayout(0, {})", blocked[0]), format!("gl.SliceLayout(1, {})", blocked[0])]);
    all.push(mma.clone());
    all.extend([operand(0, 8), operand(1, 8), operand(0, 16), operand(1, 16)]);
    all.push(swizzled("1, 0"));
    text(all)
}

/// The layout of an accumulator on a target.
fn mma(target: Target, warps: u32) -> String {
    match target {
        Target::Cuda(_) => {
            format!("gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[{warps}, 1], instr_shape=[16, 64, 16])")
        }
        Target::Gfx1250 => {
            let bases: Vec<String> = (0..warps.max(1).ilog2()).map(|bit| format!("[{}, 0]", 1u32 << bit)).collect();
            format!(
                "gl.amd.AMDWMMALayout(version=3, transposed=True, warp_bases=[{}], instr_shape=[16, 16, 32])",
                bases.join(", ")
            )
        }
        _ => {
            let version = if target == Target::Gfx950 { 4 } else { 3 };
            let depth = if version == 4 { 16 } else { 8 };
            format!(
                "gl.amd.AMDMFMALayout(version={version}, instr_shape=[32, 32, {depth}], transposed=True, warps_per_cta=[{warps}, 1])"
            )
        }
    }
}
