/** Some bytes of creation code, by which init code that does not begin with it is passed over without reading it. */
import { equal } from '../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import type { CodeTemplate } from './code-template.ts'

/** Bytes that are compared. */
const PROBE_BYTES = 16
/** Places that are tried, as parts of the code: its beginning is the same in most contracts. */
const PLACES = [0.5, 0.7, 0.3, 0.9, 0.1]

/** Bytes of creation code, none of which linking changes. */
export interface CreationProbe {
  /** Bytes of the whole code. */
  readonly length: number
  readonly at: number
  /** Empty where no bytes could be chosen: then only the length counts. */
  readonly bytes: Hex
}

/** Chooses the bytes. A hash of sources may be among them: code that differs in metadata only is passed over then. */
export function creationProbe({ code, links }: CodeTemplate): CreationProbe {
  const { length } = code
  for (const part of PLACES) {
    const at = Math.floor((length - PROBE_BYTES) * part)
    const isLinked = links.some(({ start, length: size }) => start < at + PROBE_BYTES && at < start + size)
    if (at >= 0 && !isLinked) return { length, at, bytes: toHex(code.subarray(at, at + PROBE_BYTES)) }
  }
  return { length, at: 0, bytes: '0x' }
}

/** May init code begin with the code of a probe? */
export function mayBegin({ length, at, bytes }: CreationProbe, initcode: Uint8Array): boolean {
  if (length === 0 || length > initcode.length) return false
  if (bytes === '0x') return true
  return equal(fromHex(bytes), initcode.subarray(at, at + PROBE_BYTES))
}
