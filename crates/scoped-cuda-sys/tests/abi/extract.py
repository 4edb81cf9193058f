#!/usr/bin/env python3
"""Writes cuda_13_5.txt: what NVIDIA's headers say about the names that src and the main crate's src/attribute.rs use.

    python3 tests/abi/extract.py                 # downloads the headers (PyPI, 5 MB) with pip
    python3 tests/abi/extract.py path/to/include # takes cuda.h and cudaTypedefs.h from there

Needs Python 3.9 and, because the compiler is the one that knows sizes, offsets and values, gcc on a 64-bit Linux. Which names
are wanted is read from this crate's sources, so a new symbol, type or constant needs no change here; the fields of a new struct
do (STRUCTS). Only names, numbers and parameter types go into the file, one fact a line.
"""

import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

WHEEL = "nvidia-cuda-runtime==13.5.37"
CUDA_VERSION = 13050

# C type -> its fields. tests/abi.rs fails when the fields leave a hole, so none can be forgotten.
STRUCTS = {
    "CUuuid": ["bytes"],
    "CUmemLocation": ["type", "id"],
    "CUmemPoolProps": [
        "allocType", "handleTypes", "location", "win32SecurityAttributes", "maxSize", "usage", "gpuDirectRDMACapable", "reserved",
    ],
    "CUmemAccessDesc": ["location", "flags"],
    "CUlaunchConfig": [
        "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes", "hStream", "attrs", "numAttrs",
    ],
    "CUlaunchAttribute": ["id", "pad", "value"],
    "CUlaunchAttributeValue": ["pad"],
    "CUDA_MEMCPY2D": [
        "srcXInBytes", "srcY", "srcMemoryType", "srcHost", "srcDevice", "srcArray", "srcPitch", "dstXInBytes", "dstY",
        "dstMemoryType", "dstHost", "dstDevice", "dstArray", "dstPitch", "WidthInBytes", "Height",
    ],
    "CUDA_MEMCPY3D": [
        "srcXInBytes", "srcY", "srcZ", "srcLOD", "srcMemoryType", "srcHost", "srcDevice", "srcArray", "reserved0", "srcPitch",
        "srcHeight", "dstXInBytes", "dstY", "dstZ", "dstLOD", "dstMemoryType", "dstHost", "dstDevice", "dstArray",
        "reserved1", "dstPitch", "dstHeight", "WidthInBytes", "Height", "Depth",
    ],
    "CUDA_MEMCPY3D_PEER": [
        "srcXInBytes", "srcY", "srcZ", "srcLOD", "srcMemoryType", "srcHost", "srcDevice", "srcArray", "srcContext", "srcPitch",
        "srcHeight", "dstXInBytes", "dstY", "dstZ", "dstLOD", "dstMemoryType", "dstHost", "dstDevice", "dstArray",
        "dstContext", "dstPitch", "dstHeight", "WidthInBytes", "Height", "Depth",
    ],
    "CUDA_KERNEL_NODE_PARAMS": [
        "func", "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes", "kernelParams",
        "extra", "kern", "ctx",
    ],
    "CUDA_MEMSET_NODE_PARAMS": ["dst", "pitch", "value", "elementSize", "width", "height"],
}  # fmt: skip

HERE = pathlib.Path(__file__).resolve().parent
CRATE = HERE.parent.parent
OUTPUT = HERE / "cuda_13_5.txt"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        include = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else download(scratch)
        OUTPUT.write_text("\n".join(fixture(include, scratch)) + "\n")


def download(scratch):
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    platform = ["--only-binary=:all:", "--platform=manylinux2014_x86_64"]
    subprocess.run([*pip, *platform, "--dest", scratch, WHEEL], check=True)
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch)
    return scratch / "nvidia/cu13/include"


def fixture(include, scratch):
    cuda = (include / "cuda.h").read_text()
    typedefs = (include / "cudaTypedefs.h").read_text()
    symbols = sorted(re.findall(r"^    (cu\w+) +\d+ ", (CRATE / "src/symbols.rs").read_text(), re.M))
    types_rs = (CRATE / "src/types.rs").read_text()
    types = sorted(set(re.findall(r"^pub (?:type|struct) (CU\w+)|^    (CU\w+);", types_rs, re.M)))
    types = sorted({a or b for a, b in types} - set(STRUCTS))
    constants = re.findall(r"^pub const (CU_\w+)", types_rs, re.M)

    functions = [line for name in symbols for line in function_lines(name, typedefs)]
    callbacks = []
    for name, parameters in re.findall(r"^typedef void \(CUDA_CB \*(\w+)\)\((.*?)\);", cuda, re.M):
        if name in types:
            callbacks.append(f"callback {name} : {', '.join(map(c_type, parameters.split(',')))}")
    aliases = sorted(set(re.findall(r"\bCU\w+_v\d+\b", "\n".join(functions))))
    aliases = [name for name in aliases if re.search(rf"^(typedef|}}) .*\b{name};", cuda, re.M)]
    # A plain name stands for the newest version of its type.
    newest = dict(re.findall(r"^typedef (\w+_v\d+) (\w+);", cuda, re.M))
    aliases = [name for name in aliases if plain(name) not in newest.values() or newest.get(name) == plain(name)]

    facts = [f"version {CUDA_VERSION}"]
    facts += [f"# sha256 {digest(include / name)} {name}" for name in ("cuda.h", "cudaTypedefs.h")]
    facts += section("alias <versioned C type> <the plain name of the same type>")
    facts += [f"alias {name} {plain(name)}" for name in aliases]
    facts += section("function <name> <CUDA version> : <parameter types>; every version, default stream")
    facts += functions
    facts += section("callback <name> : <parameter types>; returns nothing")
    facts += callbacks
    facts += compiled(include, scratch, cuda, aliases, types, constants)
    return [
        "# What cuda.h and cudaTypedefs.h of CUDA 13.5 say, on 64-bit Linux.",
        f"# Made by `python3 tests/abi/extract.py` from {WHEEL} (PyPI); read by tests/abi.rs. Do not edit.",
        "",
        *facts,
    ]


def function_lines(name, typedefs):
    """One line per version. Types of per-thread default streams end in _ptds or _ptsz, not in the version, and are left out."""
    pattern = rf"^\s*typedef CUresult \(CUDAAPI \*PFN_{name}_v(\d+)\)\((.*?)\);"
    for version, parameters in sorted(re.findall(pattern, typedefs, re.M), key=lambda found: int(found[0])):
        parameters = [] if parameters.strip() == "void" else map(c_type, parameters.split(","))
        yield f"function {name} {version} : {', '.join(parameters)}"


def c_type(parameter):
    """'const char **pStr' -> 'const char**'."""
    without_name = re.fullmatch(r"\s*(.*?[\s*])\w+\s*", parameter)[1]
    return re.sub(r"\s*\*\s*", "*", " ".join(without_name.split()))


def plain(name):
    return re.sub(r"_v\d+$", "", name)


def compiled(include, scratch, cuda, aliases, types, constants):
    """Has the compiler print what only it knows."""
    results = re.findall(r"^\s*(CUDA_SUCCESS|CUDA_ERROR_\w+)\s*=", cuda, re.M)
    attributes = re.findall(r"^\s*(CU_DEVICE_ATTRIBUTE_\w+)\s*=\s*\d+,\s*(?:/\*\*<\s*(Deprecated))?", cuda, re.M)

    body = [f'_Static_assert(CUDA_VERSION == {CUDA_VERSION}, "another version");']
    for name in aliases:
        body.append(f'_Static_assert(__builtin_types_compatible_p({name}, {plain(name)}), "{name} is another type");')
    body += say("type <name> <size> <alignment> <kind>")
    body += [f"TYPE({name})" for name in ["size_t", *types]]
    body += say("struct <name> <size> <alignment>", "field <struct> <name> <offset> <size> <kind>")
    for name, fields in STRUCTS.items():
        body.append(f"STRUCT({name})")
        body += [f"FIELD({name}, {field})" for field in fields]
    body += say("constant <name> <value>")
    body += [f'VALUE("constant", {name}, "")' for name in constants]
    body += say("result <name> <value>")
    body += [f'VALUE("result", {name}, "")' for name in results]
    body += say("attribute <name> <value> [deprecated]")
    body += [f'VALUE("attribute", {name}, "{" deprecated" if deprecated else ""}")' for name, deprecated in attributes]

    source = scratch / "print.c"
    source.write_text(PROGRAM.replace("BODY", "\n    ".join(body)))
    program = scratch / "print"
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Werror", "-m64", "-I", include, source, "-o", program], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def section(*lines):
    return ["", *(f"# {line}" for line in lines)]


def say(*lines):
    return [f'puts("{line}");' for line in section(*lines)]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


PROGRAM = r"""
#include <stddef.h>
#include <stdio.h>
#include <cuda.h>

#define AT(type) (*(type *)0) /* never evaluated */
#define KIND(x) _Generic((x), \
    int: "signed", \
    unsigned char: "unsigned", unsigned short: "unsigned", unsigned int: "unsigned", \
    unsigned long: "unsigned", unsigned long long: "unsigned", \
    char *: "bytes", unsigned char *: "bytes", \
    default: __builtin_classify_type(x) == 5 ? "pointer" : __builtin_classify_type(x) == 12 ? "struct" : "?")
#define TYPE(type) printf("type %s %zu %zu %s\n", #type, sizeof(type), _Alignof(type), KIND(AT(type)));
#define STRUCT(type) printf("struct %s %zu %zu\n", #type, sizeof(type), _Alignof(type));
#define FIELD(type, field) printf("field %s %s %zu %zu %s\n", #type, #field, offsetof(type, field), sizeof(AT(type).field), KIND(AT(type).field));
#define VALUE(word, name, note) printf("%s %s %lld%s\n", word, #name, (long long)(name), note);

int main(void) {
    BODY
    return 0;
}
"""

if __name__ == "__main__":
    main()
