//! Other values in place of a chosen one, near it: what a finding depends on is told by trying them.

use super::Given;
use gluon::default_swizzle;
use python::value::DType;

/// Other values in place of a chosen one, the likeliest to be taken first: the other way of a switch, a number twice and
/// half as large, a descriptor of a smaller block and, in a cluster of `num_ctas`, one whose block is split over its CTAs.
pub fn neighbours(given: &Given, num_ctas: u32) -> Vec<Given> {
    match given {
        Given::Value(text) if text == "True" => vec![Given::Value("False".to_owned())],
        Given::Value(text) if text == "False" => vec![Given::Value("True".to_owned())],
        Given::Value(text) => {
            let Ok(number) = text.parse::<i64>() else { return Vec::new() };
            let all = [number.checked_mul(2), (number % 2 == 0).then_some(number / 2)];
            let all = all.into_iter().flatten().filter(|other| *other > 0 && *other != number);
            all.map(|other| Given::Value(other.to_string())).collect()
        }
        Given::Type(text) => Block::of(text).map_or_else(Vec::new, |block| block.others(text, num_ctas)),
    }
}

/// The block of a descriptor.
struct Block<'t> {
    element: &'t str,
    sizes: Vec<i64>,
    /// What stands behind the sizes: `>`, or a layout.
    rest: &'t str,
}

impl<'t> Block<'t> {
    fn of(ty: &'t str) -> Option<Block<'t>> {
        let (element, rest) = ty.strip_prefix("tensordesc<")?.split_once('[')?;
        let (sizes, rest) = rest.split_once(']')?;
        let sizes: Vec<i64> = sizes.split(',').map(|size| size.trim().parse().ok()).collect::<Option<_>>()?;
        Some(Block { element, sizes, rest })
    }

    fn others(&self, now: &str, num_ctas: u32) -> Vec<Given> {
        let mut all = self.split(num_ctas);
        all.extend([self.halved(0), self.halved(self.sizes.len().saturating_sub(1))]);
        let mut out: Vec<Given> = Vec::new();
        for given in all.into_iter().filter(|text| text != now).map(Given::Type) {
            if !out.contains(&given) {
                out.push(given);
            }
        }
        out
    }

    /// Half as long in each dimension from this one on.
    fn halved(&self, from: usize) -> String {
        let half = |size: i64| if size > 16 && size % 2 == 0 { size / 2 } else { size };
        let halved = self.sizes.iter().enumerate().map(|(at, size)| if at < from { *size } else { half(*size) });
        self.spelled(&halved.collect::<Vec<_>>(), self.rest)
    }

    /// Split over the CTAs of a cluster along each dimension: the default gives all of it to each of them.
    ///
    /// A block of one row is that of rows which are gathered, and its layout that of all of them.
    fn split(&self, num_ctas: u32) -> Vec<String> {
        let rank = self.sizes.len();
        if num_ctas < 2 || !num_ctas.is_power_of_two() || self.rest != ">" {
            return Vec::new();
        }
        let Some(bits) = DType::named(self.element).map(DType::bits) else { return Vec::new() };
        let gathers = rank == 2 && self.sizes.first() == Some(&1);
        let along = |dim: usize| {
            let mut part = self.sizes.clone();
            let size = part.get_mut(dim)?;
            if dim == 0 && gathers {
                // As many rows as the layout of a tile has at least.
                *size = 8;
            } else if *size % i64::from(num_ctas) == 0 {
                *size /= i64::from(num_ctas);
            } else {
                return None;
            }
            let swizzle = default_swizzle(&part, bits, false, false)?;
            let basis = |bit: u32| {
                let of = |at: usize| if at == dim { (1_u32 << bit).to_string() } else { "0".to_owned() };
                format!("[{}]", (0..rank).map(of).collect::<Vec<_>>().join(", "))
            };
            let bases: Vec<String> = (0..num_ctas.trailing_zeros()).map(basis).collect();
            let layout = format!(
                ",NVMMASharedLayout(swizzle_byte_width={swizzle}, element_bitwidth={bits}, rank={rank}, cga_layout=[{}])>",
                bases.join(", ")
            );
            Some(self.spelled(&self.sizes, &layout))
        };
        (0..rank).filter_map(along).collect()
    }

    fn spelled(&self, sizes: &[i64], rest: &str) -> String {
        let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
        format!("tensordesc<{}[{}]{rest}", self.element, sizes.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_near() {
        let value = |text: &str| Given::Value(text.to_owned());
        assert_eq!(neighbours(&value("8"), 1), [value("16"), value("4")]);
        assert_eq!(neighbours(&value("1"), 1), [value("2")]);
        assert_eq!(neighbours(&value("True"), 1), [value("False")]);
        assert_eq!(neighbours(&value("gl.float16"), 1), []);
        let block = |text: &str| Given::Type(text.to_owned());
        let halves = ["tensordesc<fp16[1, 64, 32]>", "tensordesc<fp16[1, 128, 32]>"];
        assert_eq!(neighbours(&block("tensordesc<fp16[1, 128, 64]>"), 1), halves.map(block));
        assert_eq!(neighbours(&block("tensordesc<fp16[64]>"), 1), [block("tensordesc<fp16[32]>")]);
        assert_eq!(neighbours(&block("i32"), 2), []);
    }

    #[test]
    fn a_block_is_split_over_ctas() {
        let texts = |text: &str, ctas: u32| {
            let all = neighbours(&Given::Type(text.to_owned()), ctas).into_iter();
            all.map(|given| match given {
                Given::Type(text) | Given::Value(text) => text,
            })
            .filter(|text| text.contains("cga_layout"))
            .collect::<Vec<_>>()
        };
        let layout = |swizzle: u32, rank: u32, bases: &str| {
            format!(
                "NVMMASharedLayout(swizzle_byte_width={swizzle}, element_bitwidth=16, rank={rank}, cga_layout={bases})>"
            )
        };
        let of = |block: &str, layout: String| format!("tensordesc<fp16[{block}],{layout}");
        assert_eq!(
            texts("tensordesc<fp16[128, 64]>", 2),
            [of("128, 64", layout(128, 2, "[[1, 0]]")), of("128, 64", layout(64, 2, "[[0, 1]]"))]
        );
        assert_eq!(
            texts("tensordesc<fp16[1, 64]>", 4),
            [
                of("1, 64", layout(128, 2, "[[1, 0], [2, 0]]")),
                // Of one row there is nothing to swizzle.
                of("1, 64", layout(0, 2, "[[0, 1], [0, 2]]")),
            ]
        );
        assert_eq!(texts("tensordesc<fp16[1, 3, 5]>", 2), [] as [String; 0]);
    }
}
