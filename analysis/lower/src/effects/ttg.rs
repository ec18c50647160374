//! TritonGPU: shared memory, `cp.async`.
//!
//! `ttg.barrier` orders a partition within itself, which the machine takes as given.

use super::{Done, Row, Table, base, read, write};
use crate::remote::Remote;
use crate::view::Window;
use kernel::{CommitKind, Issuer, Proxy};

pub(super) const ROWS: Table = &[
    ("local_alloc", Row::Allocate),
    ("local_dealloc", Row::Nothing),
    ("local_load", base(&[read("src", Proxy::Generic, "")])),
    ("local_store", base(&[write("dst", Proxy::Generic, "")])),
    ("local_gather", base(&[read("src", Proxy::Generic, "")])),
    ("local_scatter", base(&[write("dst", Proxy::Generic, "")])),
    ("local_atomic_scatter_rmw", base(&[read("dst", Proxy::Generic, ""), write("dst", Proxy::Generic, "")])),
    ("memdesc_index", Row::View(Window::Index)),
    ("memdesc_subslice", Row::View(Window::Subslice)),
    ("memdesc_trans", Row::View(Window::Trans)),
    ("memdesc_reshape", Row::View(Window::Reshape)),
    ("memdesc_reinterpret", Row::View(Window::Reinterpret)),
    ("memdesc_dynamic_subslice", Row::Unmodelled("a slice at an offset known only at run time")),
    (
        "async_copy_global_to_local",
        Row::Memory {
            issuer: Issuer::Base,
            touches: &[write("result", Proxy::Generic, "")],
            done: Done::Group { kind: CommitKind::AsyncCopy, implicit: false, when: None },
        },
    ),
    ("async_commit_group", Row::Commit(CommitKind::AsyncCopy)),
    ("async_wait", Row::Wait(CommitKind::AsyncCopy, "num")),
    ("barrier", Row::Nothing),
    ("global_scratch_alloc", Row::Nothing),
    ("mask", Row::Unmodelled("a predicated region, which the pipeliner has not expanded yet")),
    ("remote_shmem_store", Row::RemoteStore(Remote::Store)),
    ("async_remote_shmem_store", Row::RemoteStore(Remote::AsyncStore)),
    ("async_remote_shmem_copy", Row::RemoteStore(Remote::AsyncCopy)),
];
