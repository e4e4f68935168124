/** Compiled code with the places that the compiler leaves open: links, immutables, hashes of sources; and code that fills them. */
import { equal, toNumber } from '../encoding/bytes.ts'
import { fromHex, type Hex, isHexDigits, toHex } from '../encoding/hex.ts'
import type { CodeRange, CompilerCode, MatchKind } from './compilation.ts'

/** Bytes of an address. */
const ADDRESS_BYTES = 20

/** A place of code that deployment fills. */
export interface OpenPlace extends CodeRange {
  /** `path:name` of a library, or the AST id of an immutable variable. */
  readonly name: string
}

/** Compiled code with its open places. */
export interface CodeTemplate {
  /** Open places hold zeros. */
  readonly code: Uint8Array
  readonly links: readonly OpenPlace[]
  readonly immutables: readonly OpenPlace[]
}

/** What filled the open places. */
export interface FilledPlaces {
  readonly kind: MatchKind
  readonly libraries: ReadonlyMap<string, Hex>
  readonly immutables: ReadonlyMap<string, Hex>
}

/** The code of a library begins with its own address, which its creation code fills in: PUSH20 … ADDRESS EQ. */
const CALL_PROTECTION = /^73(00){20}3014/

/**
 * The hash of sources in metadata, in CBOR: `ipfs` and `bzzr1` in a map of two or three members, `bzzr0` in a map of
 * one. Code that creates contracts holds their metadata too.
 */
const SOURCE_HASHES = [
  { mark: '64697066735822', bytes: 34 },
  { mark: '65627a7a72315820', bytes: 32 },
  { mark: '65627a7a72305820', bytes: 32 },
] as const

/**
 * Bytes of metadata at the end of code, the two bytes of its length included; 0 where it has none
 * (https://docs.soliditylang.org/en/latest/metadata.html#encoding-of-the-metadata-hash-in-the-bytecode).
 */
export function metadataLength(code: Uint8Array): number {
  if (code.length < 2) return 0
  const length = toNumber(code.subarray(-2)) + 2
  if (length > code.length) return 0
  // A CBOR map of one to four members.
  const first = code[code.length - length] ?? 0
  return first >= 0xa1 && first <= 0xa4 ? length : 0
}

function placesOf(references: Readonly<Record<string, readonly CodeRange[]>>, length: number): OpenPlace[] {
  return Object.entries(references).flatMap(([name, ranges]) =>
    ranges.map((range) => {
      const { start } = range
      if (start < 0 || range.length <= 0 || start + range.length > length) {
        throw new RangeError(`a place of ${name} is outside of the code`)
      }
      return { name, start, length: range.length }
    }),
  )
}

function linksOf({ linkReferences }: CompilerCode): Record<string, readonly CodeRange[]> {
  return Object.fromEntries(
    Object.entries(linkReferences).flatMap(([file, libraries]) =>
      Object.entries(libraries).map(([name, ranges]) => [`${file}:${name}`, ranges]),
    ),
  )
}

/** Puts zeros in the places of a text of hex digits. */
function blanked(digits: string, places: readonly CodeRange[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { start, length } of [...places].sort((a, b) => a.start - b.start)) {
    if (start * 2 < at) throw new RangeError('open places overlap')
    pieces.push(digits.slice(at, start * 2), '00'.repeat(length))
    at = (start + length) * 2
  }
  return [...pieces, digits.slice(at)].join('')
}

/** Reads compiled code. Throws a RangeError where its references do not fit it. */
export function templateOf(compiled: CompilerCode): CodeTemplate {
  const given = compiled.object.startsWith('0x') ? compiled.object.slice(2) : compiled.object
  const links = placesOf(linksOf(compiled), given.length / 2)
  const immutables = placesOf(compiled.immutableReferences, given.length / 2)
  const digits = blanked(given, [...links, ...immutables])
  if (digits.length % 2 !== 0 || !isHexDigits(digits)) throw new RangeError('the code is not hex')
  return { code: fromHex(`0x${digits}`), links, immutables }
}

/** Places of the hashes of sources within code, those of created contracts. */
function hashPlaces(digits: string): CodeRange[] {
  const places: CodeRange[] = []
  for (const { mark, bytes } of SOURCE_HASHES) {
    for (let at = digits.indexOf(mark); at !== -1; at = digits.indexOf(mark, at + mark.length)) {
      if (at % 2 === 0) places.push({ start: (at + mark.length) / 2, length: bytes })
    }
  }
  return places
}

/** The values of places in code by name; `undefined` when one name has two values. */
function valuesAt(places: readonly OpenPlace[], code: Uint8Array): Map<string, Hex> | undefined {
  const values = new Map<string, Hex>()
  for (const { name, start, length } of places) {
    const value = toHex(code.subarray(start, start + length))
    const known = values.get(name)
    if (known !== undefined && known !== value) return undefined
    values.set(name, value)
  }
  return values
}

/** Code with zeros in some places; the code itself where there are none. */
function cleared(code: Uint8Array, places: readonly CodeRange[]): Uint8Array {
  if (places.length === 0) return code
  const copy = code.slice()
  for (const { start, length } of places) copy.fill(0, start, start + length)
  return copy
}

/** Does its metadata hold a hash of the sources? */
function namesSources(metadata: Uint8Array): boolean {
  return hashPlaces(toHex(metadata).slice(2)).length > 0
}

/**
 * Compares code on the chain with compiled code: `undefined` when they differ in more than open places and metadata. The
 * time is proportional to the length of the code.
 */
export function fill(template: CodeTemplate, code: Uint8Array): FilledPlaces | undefined {
  const end = code.length - metadataLength(code)
  const compiledEnd = template.code.length - metadataLength(template.code)
  if (end !== compiledEnd) return undefined
  const digits = toHex(template.code.subarray(0, end)).slice(2)
  const open: CodeRange[] = [...template.links, ...template.immutables]
  if (CALL_PROTECTION.test(digits)) open.push({ start: 1, length: ADDRESS_BYTES })
  const body = cleared(code.subarray(0, end), open)
  // Compilers write zeros into open places; libraries that were linked by the compiler are no open places.
  const compiled = cleared(template.code.subarray(0, end), open)
  const isEqual = equal(body, compiled)
  if (!isEqual) {
    const hashes = hashPlaces(digits)
    if (hashes.length === 0 || !equal(cleared(body, hashes), cleared(compiled, hashes))) return undefined
  }
  const libraries = valuesAt(template.links, code)
  const immutables = valuesAt(template.immutables, code)
  if (libraries === undefined || immutables === undefined) return undefined
  const metadata = template.code.subarray(end)
  const isExact = isEqual && equal(metadata, code.subarray(end)) && namesSources(metadata)
  return { kind: isExact ? 'exact' : 'partial', libraries, immutables }
}

/** How init code agrees with creation code: `exact` with the hashes of the sources; `undefined` where it begins with other code. */
export function creationMatch(template: CodeTemplate, initcode: Uint8Array): MatchKind | undefined {
  const { code, links } = template
  if (code.length === 0 || constructorArguments(template, initcode) === undefined) return undefined
  const isExact = equal(cleared(initcode.subarray(0, code.length), links), cleared(code, links))
  return isExact && namesSources(code) ? 'exact' : 'partial'
}

/**
 * The constructor arguments behind creation code in init code; `undefined` where the init code begins with other code. Its
 * metadata may differ, in length too.
 */
export function constructorArguments(template: CodeTemplate, initcode: Uint8Array): Uint8Array | undefined {
  const { code, links } = template
  if (initcode.length < code.length) return undefined
  const start = initcode.subarray(0, code.length)
  const hashes = hashPlaces(toHex(code).slice(2))
  const open = [...links, ...hashes]
  return equal(cleared(start, open), cleared(code, open)) ? initcode.subarray(code.length) : undefined
}
