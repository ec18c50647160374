//! The CTAs of a cluster, each of which runs a program of its own.

use dialects::{Nvg, Ttng};
use python::doubt::DoubtKind;
use python::emit::{Op, Ssa, Type};
use python::interp::{Interp, Stop};

/// Refuses what CTAs do together in a kernel that is not launched in clusters of several.
pub(super) fn clustered(interp: &mut Interp<'_>) -> Result<(), Stop> {
    if interp.num_ctas > 1 {
        return Ok(());
    }
    interp.doubt(DoubtKind::Ctas(2));
    interp.unknown("it asks for other CTAs, and no launch with a cluster (`ctas_per_cga`) of several along its first axis is known")
}

/// The number of the CTA in its cluster.
pub(super) fn cta_rank(interp: &mut Interp<'_>) -> Result<Ssa, Stop> {
    interp.explicit_memory = true;
    interp.emit_value(Op::new(Nvg::ClusterId).result("result", Type::I32))
}

/// The same barrier or buffer in the CTA of this number.
pub(super) fn in_cta(interp: &mut Interp<'_>, of: Ssa, rank: Ssa) -> Result<Ssa, Stop> {
    let ty = interp.ty(of);
    let op = Op::new(Ttng::MapToRemoteBuffer).operand("src", of).operand("ctaRank", rank);
    interp.emit_value(op.result("result", ty))
}
