/**
 * The checksums of the blocks of LevelDB's tables (LevelDB, doc/table_format.md). LevelDB can look at them when it reads, and
 * `classic-level` has no option for that: a changed byte of a key makes an entry look absent.
 */
import { basename } from 'node:path'
import { diskFiles, type Files, readWhole } from './files.ts'

const FOOTER_BYTES = 48
const MAGIC = Buffer.from('57fb808b247547db', 'hex')
/** Behind each block: how it is compressed, and its checksum. */
const TRAILER_BYTES = 5

/** Where a block is in its file. */
interface Handle {
  readonly offset: number
  readonly size: number
}

/** CRC-32C of each byte; that of zlib has another polynomial. */
const CASTAGNOLI = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  return crc
})

/** The checksum as LevelDB stores it: rotated, with a constant added. */
function maskedChecksum(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) crc = (CASTAGNOLI[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  crc = ~crc
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}

/** Reads numbers of seven bits a byte, the lowest first. */
class Varints {
  readonly #bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  next(): number {
    let [value, scale] = [0, 1]
    for (;;) {
      const byte = this.#bytes[this.at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
  }

  handle(): Handle {
    return { offset: this.next(), size: this.next() }
  }
}

/** Is the checksum of a block the one behind it? */
function isWhole(table: Buffer, { offset, size }: Handle): boolean {
  const end = offset + size + 1
  if (end + TRAILER_BYTES - 1 > table.length) return false
  return maskedChecksum(table.subarray(offset, end)) === table.readUInt32LE(end)
}

/** The handles that are the values of a block's entries; none of a compressed block, which this node does not write. */
function handlesIn(table: Buffer, { offset, size }: Handle): Handle[] {
  if (table[offset + size] !== 0) return []
  const block = table.subarray(offset, offset + size)
  const end = size - 4 - 4 * block.readUInt32LE(size - 4)
  const handles: Handle[] = []
  const entry = new Varints(block, 0)
  while (entry.at < end) {
    entry.next()
    const keyBytes = entry.next()
    const valueBytes = entry.next()
    const value = entry.at + keyBytes
    handles.push(new Varints(block, value).handle())
    entry.at = value + valueBytes
  }
  return handles
}

/** Offsets of the blocks of a table whose checksum is wrong; where its index is one of them, what that names is not read. */
function damagedOffsets(table: Buffer): number[] {
  const footer = table.length - FOOTER_BYTES
  if (footer < 0 || !table.subarray(-MAGIC.length).equals(MAGIC)) return [Math.max(0, footer)]
  const place = new Varints(table, footer)
  const lists = [place.handle(), place.handle()]
  const damaged = lists.filter((list) => !isWhole(table, list))
  const named = lists.filter((list) => !damaged.includes(list)).flatMap((list) => handlesIn(table, list))
  return [...damaged, ...named.filter((block) => !isWhole(table, block))].map(({ offset }) => offset)
}

/** What is damaged in the tables of LevelDB's folder, a phrase for each block. Throws the file system's errors. */
export function damagedBlocks(folder: string, files: Files = diskFiles): string[] {
  const tables = files.list(folder).filter((name) => name.endsWith('.ldb'))
  return tables.sort().flatMap((name) => {
    const offsets = damagedOffsets(readWhole(files, `${folder}/${name}`))
    return offsets
      .sort((a, b) => a - b)
      .map((offset) => `${basename(folder)}/${name}, at byte ${offset}: the checksum of a block is wrong`)
  })
}
