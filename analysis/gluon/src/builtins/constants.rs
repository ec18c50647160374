//! Names of Gluon that stand for a fixed value: element types, and types that are only compared.

use python::library::{Fixed, NOTHING, Part};
use python::value::DType;

pub(super) const PART: Part = Part {
    constants: &[
        ("gl.void", Fixed::DType(DType::Void)),
        ("gl.int1", Fixed::DType(DType::Int1)),
        ("gl.int8", Fixed::DType(DType::Int8)),
        ("gl.int16", Fixed::DType(DType::Int16)),
        ("gl.int32", Fixed::DType(DType::Int32)),
        ("gl.int64", Fixed::DType(DType::Int64)),
        ("gl.uint8", Fixed::DType(DType::UInt8)),
        ("gl.uint16", Fixed::DType(DType::UInt16)),
        ("gl.uint32", Fixed::DType(DType::UInt32)),
        ("gl.uint64", Fixed::DType(DType::UInt64)),
        ("gl.float8e4nv", Fixed::DType(DType::Fp8E4Nv)),
        ("gl.float8e5", Fixed::DType(DType::Fp8E5)),
        ("gl.float8e4b8", Fixed::DType(DType::Fp8E4B8)),
        ("gl.float8e5b16", Fixed::DType(DType::Fp8E5B16)),
        ("gl.float8e4b15", Fixed::DType(DType::Fp8E4B15)),
        ("gl.float16", Fixed::DType(DType::Fp16)),
        ("gl.bfloat16", Fixed::DType(DType::Bf16)),
        ("gl.float32", Fixed::DType(DType::Fp32)),
        ("gl.float64", Fixed::DType(DType::Fp64)),
        ("gl.tensor", Fixed::Type("gl.tensor")),
        ("gl.dtype", Fixed::Type("gl.dtype")),
        ("gl.base_value", Fixed::Type("gl.base_value")),
        ("gl.base_type", Fixed::Type("gl.base_type")),
        ("gl.tuple_type", Fixed::Type("gl.tuple_type")),
        ("gl.shared_memory_descriptor", Fixed::Type("gl.shared_memory_descriptor")),
        ("gl.nvidia.blackwell.tensor_memory_descriptor", Fixed::Type("gl.tensor_memory_descriptor")),
        ("gl.nvidia.hopper.tma.tensor_descriptor", Fixed::Type("gl.tensor_descriptor")),
        ("gl.nvidia.hopper.tma.tensor_descriptor_im2col", Fixed::Type("gl.tensor_descriptor_im2col")),
        ("gl.nvidia.hopper.tma.tensor_descriptor_im2col_type", Fixed::Type("gl.tensor_descriptor_im2col_type")),
        ("gl.nvidia.hopper.warpgroup_mma_accumulator_type", Fixed::Type("gl.warpgroup_mma_accumulator_type")),
        ("gl.nvidia.blackwell.clc.clc_result_type", Fixed::Type("gl.clc_result_type")),
        ("gl.amd.cdna5.tdm.tensor_descriptor", Fixed::Type("gl.tensor_descriptor")),
        ("gl.amd.cdna5.tdm.tensor_descriptor_type", Fixed::Type("gl.tensor_descriptor_type")),
        ("gl.nvidia.hopper.warpgroup_mma_accumulator", Fixed::Type("gl.warpgroup_mma_accumulator")),
    ],
    ..NOTHING
};
