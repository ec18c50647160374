//! What the text of inline assembly says of barriers and shared memory.

/// Whether assembly is the barrier of all threads of a program and nothing else.
pub fn is_barrier(text: &str) -> bool {
    const BARRIERS: &[&str] = &[
        "bar.sync 0",
        "bar.sync.aligned 0",
        "barrier.sync 0",
        "barrier.sync.aligned 0",
        "barrier.cta.sync 0",
        "s_barrier",
    ];
    let mut statements = text.split([';', '\n']).map(str::trim).filter(|statement| !statement.is_empty()).peekable();
    statements.peek().is_some() && statements.all(|statement| BARRIERS.contains(&statement))
}

/// Whether assembly has instructions that synchronise or that touch shared memory.
pub fn synchronises(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "mbarrier",
        "bar.",
        "barrier.",
        ".shared",
        "cp.async",
        "wgmma",
        "tcgen05",
        "fence",
        "membar",
        "s_barrier",
        "s_wait",
        "ds_read",
        "ds_write",
        "ds_load",
        "ds_store",
    ];
    WORDS.iter().any(|word| text.contains(word))
}

/// A register that PTX has for each thread, and that is the same for all threads of a CTA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpecialRegister {
    /// `%cluster_ctarank`: the number of the CTA in its cluster.
    CtaRank,
    /// `%cluster_nctarank`: how many CTAs a cluster has.
    ClusterSize,
    /// `%clusterid` along an axis: what `program_id` gives.
    Program(u8),
    /// `%nclusterid` along an axis: what `num_programs` gives.
    Programs(u8),
    /// `%ctaid` along an axis.
    Cta(u8),
    /// `%nctaid` along an axis.
    Ctas(u8),
}

/// The register that assembly copies into its one result, if it does nothing else (PTX ISA, "Special Registers").
pub fn special_register(text: &str) -> Option<SpecialRegister> {
    let mut statements = text.split([';', '\n']).map(str::trim).filter(|statement| !statement.is_empty());
    let (copy, None) = (statements.next()?, statements.next()) else { return None };
    let (result, register) = copy.strip_prefix("mov.u32").or_else(|| copy.strip_prefix("mov.b32"))?.split_once(',')?;
    let register = register.trim().strip_prefix('%')?;
    let register = register.strip_prefix('%').unwrap_or(register);
    if result.trim() != "$0" {
        return None;
    }
    let (name, axis) = match register.rsplit_once('.') {
        Some((name, axis)) => (name, ["x", "y", "z"].iter().position(|known| *known == axis)? as u8),
        None => (register, 0),
    };
    match (name, register.contains('.')) {
        ("cluster_ctarank", false) => Some(SpecialRegister::CtaRank),
        ("cluster_nctarank", false) => Some(SpecialRegister::ClusterSize),
        ("clusterid", true) => Some(SpecialRegister::Program(axis)),
        ("nclusterid", true) => Some(SpecialRegister::Programs(axis)),
        ("ctaid", true) => Some(SpecialRegister::Cta(axis)),
        ("nctaid", true) => Some(SpecialRegister::Ctas(axis)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_by_name() {
        assert_eq!(special_register("mov.u32 $0, %cluster_ctarank;"), Some(SpecialRegister::CtaRank));
        assert_eq!(special_register(" mov.b32 $0,%ctaid.y ;\n"), Some(SpecialRegister::Cta(1)));
        assert_eq!(special_register("mov.u32 $0, %%nclusterid.z;"), Some(SpecialRegister::Programs(2)));
        assert_eq!(special_register("mov.u32 $0, %smid;"), None);
        assert_eq!(special_register("mov.u32 $0, ctaid.x;"), None);
        assert_eq!(special_register("mov.u32 $0, %ctaid.x; add.u32 $0, $0, 1;"), None);
        assert_eq!(special_register("mov.u32 $1, %ctaid.x;"), None);
    }
}
