//! What a kernel is compiled for, and by which release of Triton.

/// What a kernel is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// NVIDIA, by compute capability: 80, 90, 100.
    Cuda(u32),
    /// AMD, CDNA 3 (`gfx942`).
    Gfx942,
    /// AMD, CDNA 4 (`gfx950`).
    Gfx950,
    /// AMD, CDNA 5 (`gfx1250`).
    Gfx1250,
}

/// Compute capabilities of NVIDIA GPUs on which Gluon runs.
const CAPABILITIES: [u32; 12] = [75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121];

impl Target {
    /// `sm_90`, `90`, `cuda:90`, `gfx950`.
    pub fn named(name: &str) -> Option<Target> {
        match name {
            "gfx942" => Some(Target::Gfx942),
            "gfx950" => Some(Target::Gfx950),
            "gfx1250" => Some(Target::Gfx1250),
            _ => {
                let digits = name.strip_prefix("sm_").or_else(|| name.strip_prefix("cuda:")).unwrap_or(name);
                digits.trim_end_matches('a').parse().ok().map(Target::Cuda)
            }
        }
    }

    /// The same, where Gluon runs on it.
    pub fn known(name: &str) -> Option<Target> {
        Target::named(name).filter(|target| match target {
            Target::Cuda(capability) => CAPABILITIES.contains(capability),
            Target::Gfx942 | Target::Gfx950 | Target::Gfx1250 => true,
        })
    }

    /// `sm_90`, `gfx950`.
    pub fn name(self) -> String {
        match self {
            Target::Cuda(capability) => format!("sm_{capability}"),
            Target::Gfx942 => "gfx942".to_owned(),
            Target::Gfx950 => "gfx950".to_owned(),
            Target::Gfx1250 => "gfx1250".to_owned(),
        }
    }

    /// `ttg.target`: `cuda:90`, `hip:gfx950`.
    pub fn ir(self) -> String {
        match self {
            Target::Cuda(capability) => format!("cuda:{capability}"),
            _ => format!("hip:{}", self.name()),
        }
    }

    /// Bytes of shared memory that the programs of one CTA may have at most: the largest of NVIDIA's cards, and what
    /// AMD calls LDS (CUDA C++ Programming Guide, "Compute Capabilities"; AMD's instruction set manuals).
    pub fn shared_bytes(self) -> u64 {
        match self {
            Target::Cuda(_) => 227 << 10,
            Target::Gfx942 => 64 << 10,
            Target::Gfx950 => 160 << 10,
            Target::Gfx1250 => 320 << 10,
        }
    }

    /// Threads of a warp.
    pub fn lanes(self) -> u32 {
        if matches!(self, Target::Gfx942 | Target::Gfx950) { 64 } else { 32 }
    }
}

/// A release of Triton: 3.9.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Version(pub u8, pub u8);

impl Default for Version {
    fn default() -> Version {
        Version(3, 9)
    }
}
