//! Memory, byte by byte.

use kernel::{Buffer, BufferId, Dim, Shape, Space};

use super::{CtaMemory, GlobalMemory, TypedWindow, WindowError};
use crate::array::ElemType;
use crate::tensor::{Sizes, TensorValue};

fn buffer(space: Space, bits: u64, start: Option<u64>) -> Buffer {
    Buffer { space, bits, start, barriers: false, slot_bits: bits }
}

/// `first, first + 1, …` in a shape.
fn count(dtype: ElemType, shape: &[u64], first: u64) -> TensorValue {
    let len = shape.iter().product::<u64>();
    TensorValue::from_bits(dtype, Sizes::from(shape), first..first + len)
}

fn bits(tensor: &TensorValue) -> Vec<u64> {
    (0..tensor.len()).map(|at| tensor.bits(at)).collect()
}

fn window<'a>(start: u64, shape: &'a Shape, sizes: &'a [u64], dtype: ElemType) -> TypedWindow<'a> {
    TypedWindow { buffer: BufferId(0), start, shape, sizes, dtype }
}

#[test]
fn a_slot_of_a_ring_and_its_transposition() {
    let mut local = CtaMemory::new(&[buffer(Space::Shared, 3 * 4 * 8 * 16, None)]).unwrap();
    let slot = Shape::dense(&[4, 8], 16);
    let values = count(ElemType::F16, &[4, 8], 100);
    local.write(window(4 * 8 * 16, &slot, &[4, 8], ElemType::F16), &values).unwrap();
    assert_eq!(local.read(window(4 * 8 * 16, &slot, &[4, 8], ElemType::F16)).unwrap(), values);
    // The slots beside it are as they were.
    for start in [0, 2 * 4 * 8 * 16] {
        let beside = local.read(window(start, &slot, &[4, 8], ElemType::F16)).unwrap();
        assert!(bits(&beside).iter().all(|bits| *bits == 0xffff));
    }
    let turned = Shape { dims: vec![slot.dims[1], slot.dims[0]], element: 16, exact: true };
    let read = local.read(window(4 * 8 * 16, &turned, &[8, 4], ElemType::F16)).unwrap();
    for i in 0..8 {
        for j in 0..4 {
            assert_eq!(read.bits(i * 4 + j), (100 + j * 8 + i) as u64);
        }
    }
    let part =
        Shape { dims: vec![Dim { size: 2, stride: 128 }, Dim { size: 3, stride: 16 }], element: 16, exact: true };
    let start = 4 * 8 * 16 + 128 + 2 * 16;
    local.write(window(start, &part, &[2, 3], ElemType::F16), &count(ElemType::F16, &[2, 3], 0)).unwrap();
    let now = bits(&local.read(window(4 * 8 * 16, &slot, &[4, 8], ElemType::F16)).unwrap());
    let expected: Vec<u64> = (0..32)
        .map(|at| match (at / 8, at % 8) {
            (i @ 1..3, j @ 2..5) => (i - 1) * 3 + j - 2,
            _ => 100 + at,
        })
        .collect();
    assert_eq!(now, expected);
}

#[test]
fn buffers_with_a_known_start_share_what_they_overlap() {
    let buffers = [
        buffer(Space::Shared, 64 * 8, Some(0)),
        buffer(Space::Shared, 64 * 8, Some(32 * 8)),
        buffer(Space::Shared, 64 * 8, None),
    ];
    let mut local = CtaMemory::new(&buffers).unwrap();
    let shape = Shape::dense(&[64], 8);
    let of =
        |buffer| TypedWindow { buffer: BufferId(buffer), start: 0, shape: &shape, sizes: &[64], dtype: ElemType::I8 };
    local.write(of(0), &count(ElemType::I8, &[64], 0)).unwrap();
    let other = bits(&local.read(of(1)).unwrap());
    assert_eq!(other[..32], (32..64).collect::<Vec<u64>>());
    assert!(other[32..].iter().all(|bits| *bits == 0xff));
    assert!(bits(&local.read(of(2)).unwrap()).iter().all(|bits| *bits == 0xff));
    local.poison(BufferId(1));
    let first = bits(&local.read(of(0)).unwrap());
    assert_eq!(first[..32], (0..32).collect::<Vec<u64>>());
    assert!(first[32..].iter().all(|bits| *bits == 0xff));
}

/// A window of tensor memory of tiles of 128 rows.
fn tiles(down: u64, across: u64, width: u64, element: u64) -> Shape {
    let tile = width * element;
    let dims = vec![
        Dim { size: down, stride: tile },
        Dim { size: across, stride: tile * down },
        Dim { size: width, stride: element },
    ];
    Shape { dims, element, exact: true }
}

#[test]
fn tensor_memory_has_rows() {
    let mut local = CtaMemory::new(&[buffer(Space::Tensor, 64 * 32, None)]).unwrap();
    let all = tiles(1, 1, 64, 32);
    let values = count(ElemType::F32, &[128, 64], 0);
    local.write(window(0, &all, &[128, 64], ElemType::F32), &values).unwrap();
    assert_eq!(local.read(window(0, &all, &[128, 64], ElemType::F32)).unwrap(), values);
    let columns = tiles(1, 1, 16, 32);
    let part = local.read(window(32 * 32, &columns, &[128, 16], ElemType::F32)).unwrap();
    for row in 0..128 {
        for column in 0..16 {
            assert_eq!(part.bits(row * 16 + column), (row * 64 + 32 + column) as u64);
        }
    }
    // Halves, two to a column, over the first half of the columns.
    let halves = tiles(1, 1, 64, 16);
    let half = count(ElemType::F16, &[128, 64], 7);
    local.write(window(0, &halves, &[128, 64], ElemType::F16), &half).unwrap();
    assert_eq!(local.read(window(0, &halves, &[128, 64], ElemType::F16)).unwrap(), half);
    let over = local.read(window(0, &all, &[128, 64], ElemType::F32)).unwrap();
    assert_eq!(over.bits(64 + 1), half.bits(64 + 2) | half.bits(64 + 3) << 16);
    assert_eq!(over.bits(64 + 32), 64 + 32);
}

#[test]
fn tiles_of_tensor_memory_lie_beside_each_other() {
    let mut local = CtaMemory::new(&[buffer(Space::Tensor, 64 * 32, Some(0))]).unwrap();
    let four = tiles(2, 2, 16, 32);
    let values = count(ElemType::F32, &[256, 32], 0);
    local.write(window(0, &four, &[256, 32], ElemType::F32), &values).unwrap();
    let one = tiles(1, 1, 16, 32);
    for (tile, (row, column)) in [(0, 0), (128, 0), (0, 16), (128, 16)].into_iter().enumerate() {
        let read = local.read(window(tile as u64 * 16 * 32, &one, &[128, 16], ElemType::F32)).unwrap();
        for at in 0..128 * 16 {
            assert_eq!(read.bits(at), ((row + at / 16) * 32 + column + at % 16) as u64);
        }
    }
    let slots = Shape { dims: [vec![Dim { size: 4, stride: 16 * 32 }], one.dims.clone()].concat(), ..one };
    let all = local.read(window(0, &slots, &[4, 128, 16], ElemType::F32)).unwrap();
    assert_eq!(all.bits(128 * 16), 128 * 32);
}

#[test]
fn scales_come_back() {
    for (rows, columns) in [(128u64, 4u64), (128, 8), (64, 4), (256, 2), (32, 16)] {
        let dense = columns.max(4) * rows.div_ceil(32).max(2);
        let shape = Shape { dims: vec![Dim { size: dense, stride: 8 }], element: 8, exact: true };
        let mut local = CtaMemory::new(&[buffer(Space::Tensor, dense * 8, None)]).unwrap();
        let values = count(ElemType::I8, &[rows, columns], 0);
        local.write(window(0, &shape, &[rows, columns], ElemType::I8), &values).unwrap();
        assert_eq!(local.read(window(0, &shape, &[rows, columns], ElemType::I8)).unwrap(), values);
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let local = CtaMemory::new(&[buffer(Space::Shared, 64 * 8, None)]).unwrap();
    let shape = Shape::dense(&[64], 8);
    let inexact = Shape { exact: false, ..shape.clone() };
    assert_eq!(local.read(window(0, &inexact, &[64], ElemType::I8)), Err(WindowError::Layout));
    assert_eq!(local.read(window(8, &shape, &[64], ElemType::I8)), Err(WindowError::Outside));
    assert_eq!(local.read(window(0, &shape, &[32], ElemType::I8)), Err(WindowError::Layout));
    assert_eq!(local.read(window(0, &shape, &[64], ElemType::F16)), Err(WindowError::Layout));
    assert!(CtaMemory::new(&[buffer(Space::Shared, 1 << 40, None)]).is_none());
}

#[test]
fn an_elastic_allocation_is_made_where_it_is_touched() {
    let mut global = GlobalMemory::default();
    let dense = global.allocate("dense", vec![1; 100]);
    let elastic = global.elastic("elastic", |start, bytes| {
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = (start as usize + at) as u8;
        }
    });
    let mut bytes = [0; 8];
    let far = elastic + (1 << 33) + 4092;
    global.read(far, &mut bytes).unwrap();
    assert_eq!(bytes, [252, 253, 254, 255, 0, 1, 2, 3]);
    global.write(far + 2, &[9, 9, 9, 9]).unwrap();
    global.read(far, &mut bytes).unwrap();
    assert_eq!(bytes, [252, 253, 9, 9, 9, 9, 2, 3]);
    assert_eq!(global.held(), 100 + 2 * 4096);
    assert!(global.contents(elastic).is_none());
    assert_eq!(global.contents(dense), Some(&[1; 100][..]));
    let fault = global.read(dense + 96, &mut bytes).unwrap_err();
    assert_eq!(fault.near, Some(("dense".into(), 96, 100)));
    assert!(global.read(8, &mut bytes).unwrap_err().near.is_none());
    assert!(dense.is_multiple_of(4096) && elastic.is_multiple_of(4096) && elastic - dense > 1 << 20);
}
