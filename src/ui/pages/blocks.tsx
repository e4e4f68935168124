/** `#/blocks`: all blocks, newest first. Only those in view are loaded and in the document. */
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { orNull } from '../checks.ts'
import { callAll, RpcError } from '../client.ts'
import { Heading } from '../components/layout.tsx'
import { AddressLink, Age, BlockLink } from '../components/values.tsx'
import { Windowed } from '../components/windowed.tsx'
import { counted, grouped, percent, quantity, shortened, toBigInt, toNumber } from '../format.ts'
import { type Block, isBlock } from '../model.ts'
import { sentIn } from '../remasc.ts'
import { epoch, head } from '../store.ts'

const COLUMNS = ['Height', 'Age', 'Transactions', 'Gas used', 'Uncles', 'Miner', 'Hash']
/** Pixels that the page may be scrolled for the list still to follow the head. */
const AT_TOP = 40
/** Blocks that are kept before the farthest are dropped. */
const MOST_KEPT = 2000
/** Milliseconds that the view must rest before its blocks are loaded. */
const REST_MS = 50

/** Blocks by height, each asked for once until they are forgotten. */
class BlockCache {
  #wanted: readonly [from: number, to: number] = [0, 0]
  #asked = new Set<number>()
  /** Grows when the blocks are forgotten. */
  #generation = 0
  #blocks: ReadonlyMap<number, Block> = new Map()
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #onChange: (blocks: ReadonlyMap<number, Block>) => void

  constructor(onChange: (blocks: ReadonlyMap<number, Block>) => void) {
    this.#onChange = onChange
  }

  /** Loads these heights, from and to (not included), once no others have been wanted for a moment. */
  want(from: number, to: number): void {
    this.#wanted = [from, to]
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#load(), REST_MS)
  }

  /** Forgets all blocks, and loads those that are wanted again. */
  forget(): void {
    this.#generation++
    this.#asked = new Set()
    this.#set(new Map())
    void this.#load()
  }

  #set(blocks: ReadonlyMap<number, Block>): void {
    this.#blocks = blocks
    this.#onChange(blocks)
  }

  async #load(): Promise<void> {
    const generation = this.#generation
    const [from, to] = this.#wanted
    const heights = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).filter(
      (height) => height >= 0 && !this.#asked.has(height),
    )
    if (heights.length === 0) return
    for (const height of heights) this.#asked.add(height)
    try {
      const found = await callAll(
        orNull(isBlock),
        heights.map((height) => ['eth_getBlockByNumber', [quantity(height), false]] as const),
      )
      // They were forgotten since.
      if (generation !== this.#generation) return
      const isFull = this.#blocks.size > MOST_KEPT
      if (isFull) this.#asked = new Set(heights)
      const blocks = new Map(isFull ? [] : this.#blocks)
      for (const [i, height] of heights.entries()) {
        const block = found[i]
        if (block && !(block instanceof RpcError)) blocks.set(height, block)
      }
      this.#set(blocks)
    } catch {
      for (const height of heights) this.#asked.delete(height)
    }
  }
}

/** Blocks by height, loaded when they come into view. */
function useBlocks() {
  const [blocks, setBlocks] = useState<ReadonlyMap<number, Block>>(new Map())
  const [cache] = useState(() => new BlockCache(setBlocks))
  useEffect(() => cache.forget(), [epoch.value])
  return { blocks, cache }
}

function cellsOf(height: number, block: Block | undefined): ComponentChildren[] {
  if (block === undefined) return [<BlockLink key="link" block={height} />, '…', '', '', '', '', '']
  const used = toBigInt(block.gasUsed)
  return [
    <BlockLink key="link" block={height} />,
    <Age key="age" seconds={block.timestamp} />,
    grouped(sentIn(block)),
    <span key="gas">
      {grouped(used)} <span class="wide">({percent(used, toBigInt(block.gasLimit))})</span>
    </span>,
    block.uncles.length,
    <AddressLink key="miner" address={block.miner} />,
    <span key="hash" class="mono dim">
      {shortened(block.hash)}
    </span>,
  ]
}

/** The list from a height downwards. */
function BlockList({ top }: { readonly top: number }) {
  const { blocks, cache } = useBlocks()
  const onRange = useCallback(
    (from: number, to: number) => cache.want(top - to + 1, top - from + 1),
    [top, cache],
  )
  return (
    <Windowed
      label="Blocks"
      class="blocks"
      count={top + 1}
      rowHeight={40}
      columns={COLUMNS}
      keyOf={(index) => top - index}
      onRange={onRange}
      row={(index) => cellsOf(top - index, blocks.get(top - index))}
    />
  )
}

/** The page. */
export function BlocksPage() {
  const newest = head.value === undefined ? undefined : toNumber(head.value.number)
  const [anchor, setAnchor] = useState(newest)
  useEffect(() => {
    // Rows stay where they are while the reader is further down.
    if (newest !== undefined && (anchor === undefined || scrollY < AT_TOP || newest < anchor))
      setAnchor(newest)
  }, [newest, anchor])
  if (newest === undefined || anchor === undefined) return <Heading title="Blocks" />
  return (
    <>
      <Heading title="Blocks" />
      <section class="card" aria-label="All blocks">
        {newest > anchor && (
          <p>
            <button
              type="button"
              class="plain"
              onClick={() => {
                scrollTo(0, 0)
                setAnchor(newest)
              }}
            >
              Show {counted(newest - anchor, 'newer block')}
            </button>
          </p>
        )}
        <BlockList top={anchor} />
      </section>
    </>
  )
}
