/** `#/blocks`: all blocks, newest first. Only those in view are loaded and in the document. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { callAll, RpcError } from '../client.ts'
import { Heading } from '../components/layout.tsx'
import { AddressLink, Age, BlockLink } from '../components/values.tsx'
import { Windowed } from '../components/windowed.tsx'
import { counted, grouped, percent, shortened, toBigInt, toNumber } from '../format.ts'
import type { Block } from '../model.ts'
import { epoch, head } from '../store.ts'

const COLUMNS = ['Height', 'Age', 'Transactions', 'Gas used', 'Uncles', 'Miner', 'Hash']
/** Pixels that the page may be scrolled for the list still to follow the head. */
const AT_TOP = 40
/** Blocks that are kept before the farthest are dropped. */
const MOST_KEPT = 2000
/** Milliseconds that the view has to rest before its blocks are loaded. */
const REST_MS = 50

/** Blocks by height, loaded when they come into view. */
function useBlocks(): {
  readonly blocks: ReadonlyMap<number, Block>
  want(from: number, to: number): void
} {
  const [blocks, setBlocks] = useState<ReadonlyMap<number, Block>>(new Map())
  const wanted = useRef<readonly [number, number]>([0, 0])
  const asked = useRef(new Set<number>())
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const moment = epoch.value
  const momentRef = useRef(moment)

  const load = useCallback(async () => {
    const [from, to] = wanted.current
    const heights = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).filter(
      (height) => height >= 0 && !asked.current.has(height),
    )
    if (heights.length === 0) return
    for (const height of heights) asked.current.add(height)
    const at = momentRef.current
    try {
      const found = await callAll<Block | null>(
        heights.map((height) => ['eth_getBlockByNumber', [`0x${height.toString(16)}`, false]] as const),
      )
      if (at !== momentRef.current) return
      setBlocks((before) => {
        const after = new Map(before.size > MOST_KEPT ? [] : before)
        if (before.size > MOST_KEPT) asked.current = new Set(heights)
        found.forEach((block, i) => {
          if (block !== null && !(block instanceof RpcError)) after.set(heights[i] as number, block)
        })
        return after
      })
    } catch {
      for (const height of heights) asked.current.delete(height)
    }
  }, [])

  useEffect(() => {
    momentRef.current = moment
    asked.current = new Set()
    setBlocks(new Map())
    void load()
  }, [moment, load])

  const want = useCallback(
    (from: number, to: number) => {
      wanted.current = [from, to]
      clearTimeout(timer.current)
      timer.current = setTimeout(() => void load(), REST_MS)
    },
    [load],
  )
  return { blocks, want }
}

/** The page. */
export function BlocksPage() {
  const newest = head.value === undefined ? undefined : toNumber(head.value.number)
  const [anchor, setAnchor] = useState(newest)
  const { blocks, want } = useBlocks()
  useEffect(() => {
    // Rows stay where they are while the reader is further down.
    if (newest !== undefined && (anchor === undefined || scrollY < AT_TOP || newest < anchor))
      setAnchor(newest)
  }, [newest, anchor])
  const top = anchor ?? 0
  const onRange = useCallback((from: number, to: number) => want(top - to + 1, top - from + 1), [top, want])
  if (newest === undefined || anchor === undefined) return <Heading title="Blocks" />
  const behind = newest - anchor
  return (
    <>
      <Heading title="Blocks" />
      <section class="card" aria-label="All blocks">
        {behind > 0 && (
          <p>
            <button
              type="button"
              class="plain"
              onClick={() => {
                scrollTo(0, 0)
                setAnchor(newest)
              }}
            >
              Show {counted(behind, 'newer block')}
            </button>
          </p>
        )}
        <Windowed
          label="Blocks"
          class="blocks"
          count={anchor + 1}
          rowHeight={40}
          columns={COLUMNS}
          keyOf={(index) => anchor - index}
          onRange={onRange}
          row={(index) => {
            const height = anchor - index
            const block = blocks.get(height)
            if (block === undefined) return [<BlockLink key="link" block={height} />, '…', '', '', '', '', '']
            const used = toBigInt(block.gasUsed)
            return [
              <BlockLink key="link" block={height} />,
              <Age key="age" seconds={block.timestamp} />,
              grouped(block.transactions.length),
              <span key="gas">
                {grouped(used)} <span class="wide">({percent(used, toBigInt(block.gasLimit))})</span>
              </span>,
              block.uncles.length,
              <AddressLink key="miner" address={block.miner} />,
              <span key="hash" class="mono dim">
                {shortened(block.hash)}
              </span>,
            ]
          }}
        />
      </section>
    </>
  )
}
