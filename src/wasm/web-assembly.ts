/** The part of the WebAssembly interface that generated code needs; its declarations come with those of browsers only. */

/** Bytes of a page, by which linear memories grow. */
export const PAGE = 65_536

/** A linear memory. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** Adds pages; what was `buffer` is then detached. */
  grow(pages: number): number
}

/** A compiled module. */
export type WasmModule = object

/** A module on one memory. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}

interface WebAssemblyInterface {
  readonly Memory: new (limits: { readonly initial: number }) => WasmMemory
  readonly Module: new (bytes: Uint8Array) => WasmModule
  readonly Instance: new (
    module: WasmModule,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ) => WasmInstance
}

const found = (globalThis as { readonly WebAssembly?: WebAssemblyInterface }).WebAssembly

/** Is there WebAssembly? Not where V8 may not generate code (`--jitless`). */
export const hasWebAssembly = found !== undefined

function webAssembly(): WebAssemblyInterface {
  if (found === undefined) throw new Error('there is no WebAssembly')
  return found
}

/** A zeroed memory of `pages` pages of 64 KiB. */
export function createMemory(pages: number): WasmMemory {
  return new (webAssembly().Memory)({ initial: pages })
}

/** Compiles a module. Throws the platform's CompileError when it is malformed. */
export function compileModule(bytes: Uint8Array): WasmModule {
  return new (webAssembly().Module)(bytes)
}

/** Instantiates a module whose imports are all of `host`; its exports. */
export function instantiate(
  module: WasmModule,
  host: Readonly<Record<string, unknown>>,
): WasmInstance['exports'] {
  return new (webAssembly().Instance)(module, { host }).exports
}
