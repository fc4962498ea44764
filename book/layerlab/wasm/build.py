"""Compile the loops to WebAssembly: ``python -m layerlab.wasm.build [file]``.

Numba makes LLVM code of each loop, llvmlite makes an object file for wasm32 of that, and wasm-ld,
of LLVM's linker lld, makes the module. Run as a program of its own: numba must not optimize for the
processor of this machine, and that can only be said before numba is imported.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TRIPLE = "wasm32-unknown-unknown"
# Offered by all browsers since 2021 or, for vectors, 2023.
FEATURES = "+simd128,+bulk-memory,+sign-ext,+nontrapping-fptoint"
LINKER = "wasm-ld"

_TYPES = {"float32*": "ptr", "float64*": "ptr", "int32": "i32", "float32": "float"}


def main(target: Path) -> None:
    """Write the module to the file `target`."""
    from layerlab.expected_scale import expect
    from layerlab.network_loops import backpropagate, layernorm, propagate, rmsnorm, transpose

    loops = (propagate, backpropagate, transpose, layernorm, rmsnorm, expect)
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for loop in loops:
            objects.append(str(Path(folder) / f"{loop.__name__}.o"))
            Path(objects[-1]).write_bytes(object_file(loop))
        link(objects, [loop.__name__ for loop in loops], target)


def object_file(loop: Any) -> bytes:
    """Compile one loop for wasm32."""
    import llvmlite.binding as llvm

    kinds = [_TYPES[str(kind)] for kind in loop.signature.args]
    text, entry = loop.llvm()
    text = portable(text, entry, loop.__name__, kinds)
    module = llvm.parse_assembly(text)
    machine = _machine(llvm)
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    for function in module.functions:
        # What nobody can call from outside is inlined, or dropped.
        if not function.is_declaration and function.name != loop.__name__:
            function.linkage = "internal"
    module.verify()
    _optimize(llvm, module, machine)
    needed = [f.name for f in module.functions if f.is_declaration and f.name[:5] != "llvm."]
    if needed:
        raise RuntimeError(
            f"layerlab.wasm.build: {loop.__name__} must need nothing from outside; "
            f"it calls {', '.join(needed)}. Use arithmetic only, and math.sqrt."
        )
    code: bytes = machine.emit_object(module)
    return code


def portable(text: str, entry: str, name: str, kinds: list[str]) -> str:
    """Rewrite numba's code for another machine, and add a function that calls its entry."""
    text = re.sub(r"^target (datalayout|triple) = .*$", "", text, flags=re.MULTILINE)
    # The root is an instruction of WebAssembly, not a function of a library.
    text = re.sub(r"^declare double @sqrt\(double\).*$", "", text, flags=re.MULTILINE)
    text = text.replace("@sqrt(", "@llvm.sqrt.f64(")
    if "@llvm.sqrt.f64(" in text and "declare double @llvm.sqrt.f64" not in text:
        text += "\ndeclare double @llvm.sqrt.f64(double)\n"
    # A place for Python's environment, which the linker would not find; it is never read.
    text = re.sub(
        r"= common (local_unnamed_addr )?global ptr null", "= internal global ptr null", text
    )
    arguments = ", ".join(f"{kind} %a{number}" for number, kind in enumerate(kinds))
    return text + (
        f"\ndefine void @{name}({arguments}) {{\n"
        "  %result = alloca ptr\n  %error = alloca ptr\n"
        f"  %status = call i32 @{entry}(ptr %result, ptr %error, {arguments})\n"
        "  ret void\n}\n"
    )


def link(objects: list[str], names: list[str], target: Path) -> None:
    """Join the object files to a module that exports the names."""
    exports = [f"--export={name}" for name in (*names, "__heap_base")]
    subprocess.run(
        [
            LINKER, "--no-entry", "--gc-sections", "--strip-all", "-z", "stack-size=4096",
            *exports, "-o", str(target), *objects,
        ],
        check=True,
    )  # fmt: skip
    # The linker makes a program of it.
    target.chmod(0o644)


def _machine(llvm: Any) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(
        cpu="generic", features=FEATURES, opt=3, reloc="static", codemodel="default"
    )


def _optimize(llvm: Any, module: Any, machine: Any) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    # Unrolled loops are larger and not faster here.
    tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    module.verify()


def _again_without_optimization() -> int:
    """Run this file anew with numba's own optimization off and nothing taken from a cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_OPT": "0", "NUMBA_CACHE_DIR": cache}
        # Numba warns that it cannot cache, which is what is wanted here.
        command = [sys.executable, "-W", "ignore", "-m", "layerlab.wasm.build", *sys.argv[1:]]
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    if os.environ.get("NUMBA_OPT") != "0":
        sys.exit(_again_without_optimization())
    from layerlab.wasm import ARTEFACT

    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name(ARTEFACT))
