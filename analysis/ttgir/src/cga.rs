//! How a tensor is split among the CTAs of a cluster.

/// The most CTAs, in bits of their number.
const BITS: usize = 16;

/// One row for each bit of a CTA's number: how far the part of a CTA with that bit lies from that of one without it, in
/// parts along each dimension. There are `ctas` along each dimension and as many parts as `split` says, dealt out along
/// the dimensions of `order`; CTAs beyond the parts of a dimension have them again, with rows of 0. It is what Triton's
/// `make_cga_layout` gives.
pub fn split_bases(ctas: &[i64], split: &[i64], order: &[i64]) -> Vec<Vec<i64>> {
    let mut bases = Vec::new();
    for &dim in order {
        let Some(dim) = usize::try_from(dim).ok().filter(|dim| *dim < ctas.len()) else { continue };
        let parts = split.get(dim).copied().unwrap_or(1);
        let mut at = 1;
        while at < ctas[dim] && bases.len() < BITS {
            let mut base = vec![0; ctas.len()];
            base[dim] = if at < parts { at } else { 0 };
            bases.push(base);
            at *= 2;
        }
    }
    bases
}
