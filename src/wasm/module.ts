/** Writes WebAssembly modules of function bodies: the sections of the binary format that generated code needs. */
import { ByteWriter } from './byte-writer.ts'
import type { FunctionBody, ValueType } from './function-body.ts'

/** The type of a function. */
export interface Signature {
  readonly parameters: readonly ValueType[]
  readonly results: readonly ValueType[]
}

/** One module with one imported memory. Imported functions come before its own in the numbering. */
export class ModuleWriter {
  readonly #types: Signature[] = []
  readonly #imports: { readonly name: string; readonly type: number }[] = []
  readonly #functions: { readonly name: string; readonly type: number; readonly body: FunctionBody }[] = []
  readonly #data: { readonly at: number; readonly bytes: Uint8Array }[] = []

  /** Imports a function of the module `host`; returns its index. All imports come before the first `add`. */
  import(name: string, signature: Signature): number {
    this.#imports.push({ name, type: this.#type(signature) })
    return this.#imports.length - 1
  }

  /** Adds an exported function; returns its index. */
  add(name: string, signature: Signature, body: FunctionBody): number {
    this.#functions.push({ name, type: this.#type(signature), body })
    return this.#imports.length + this.#functions.length - 1
  }

  /** Puts bytes at an address of the memory whenever the module is instantiated. */
  data(at: number, bytes: Uint8Array): void {
    this.#data.push({ at, bytes })
  }

  /** The module; its memory is the import `host.memory`. */
  encode(): Uint8Array<ArrayBuffer> {
    const out = new ByteWriter()
    out.push(0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0)
    section(out, 1, this.#types, (section, { parameters, results }) => {
      section.push(0x60)
      for (const types of [parameters, results]) {
        section.unsigned(types.length)
        section.push(...types)
      }
    })
    section(out, 2, [...this.#imports, MEMORY], (section, entry) => {
      text(section, 'host')
      text(section, entry.name)
      if (entry === MEMORY) section.push(2, 0, 0)
      else {
        section.push(0)
        section.unsigned(entry.type)
      }
    })
    section(out, 3, this.#functions, (section, { type }) => section.unsigned(type))
    section(out, 7, this.#functions, (section, { name }, i) => {
      text(section, name)
      section.push(0)
      section.unsigned(this.#imports.length + i)
    })
    section(out, 10, this.#functions, (section, { body }) => body.encodeTo(section))
    section(out, 11, this.#data, (section, { at, bytes }) => {
      section.push(0, 0x41)
      section.signed32(at)
      section.push(0x0b)
      section.unsigned(bytes.length)
      section.append(bytes)
    })
    return out.view()
  }

  #type(signature: Signature): number {
    const key = JSON.stringify(signature)
    const known = this.#types.findIndex((type) => JSON.stringify(type) === key)
    if (known >= 0) return known
    return this.#types.push(signature) - 1
  }
}

/** The import of the memory among those of functions. */
const MEMORY = { name: 'memory', type: -1 } as const

/** Names here are ASCII. */
function text(out: ByteWriter, name: string): void {
  out.unsigned(name.length)
  out.append(Buffer.from(name, 'latin1'))
}

function section<T>(
  out: ByteWriter,
  id: number,
  entries: readonly T[],
  encode: (section: ByteWriter, entry: T, index: number) => void,
): void {
  if (entries.length === 0) return
  const body = new ByteWriter()
  body.unsigned(entries.length)
  for (const [i, entry] of entries.entries()) encode(body, entry, i)
  out.push(id)
  out.unsigned(body.length)
  out.append(body.view())
}
