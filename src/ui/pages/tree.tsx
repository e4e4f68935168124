/** `#/tree` and `#/tree/<height>`: the branches of the chain with their weights and uncles, and the last reorganisation. */
import { headHeight, loadBranches } from '../branches.ts'
import { Heading, Section, Show } from '../components/layout.tsx'
import { AddressLink, Age, BlockLink, BlockLinks } from '../components/values.tsx'
import { counted, grouped, type Hex, shortened, toNumber } from '../format.ts'
import type { TreeBlock } from '../lanes.ts'
import { useQuery } from '../query.ts'
import { linkTo } from '../router.ts'
import { lastRemoval, may } from '../store.ts'

/** Heights on a page. */
const HEIGHTS = 40
/** Pixels. */
const ROW = 34
const LANE = 22
const DOT = 5
/** Lanes beyond this number are drawn over each other. */
const MOST_LANES = 12

/** Hashes of removed blocks, and of added ones. */
const MOST_HASHES = 20

const xOf = (lane: number): number => 14 + Math.min(lane, MOST_LANES) * LANE
const yOf = (row: number): number => row * ROW + ROW / 2

/** A curve from a block to one below it. */
function edge(fromLane: number, fromRow: number, toLane: number, toRow: number): string {
  const [x1, y1, x2, y2] = [xOf(fromLane), yOf(fromRow), xOf(toLane), yOf(toRow)]
  if (x1 === x2) return `M${x1} ${y1}V${y2}`
  return `M${x1} ${y1}V${y2 - ROW}C${x1} ${y2 - ROW / 2} ${x2} ${y2 - ROW / 2} ${x2} ${y2}`
}

/** The line from a block to its parent, or down to the end where the parent is not among the rows. */
function ParentEdge({
  block,
  row,
  places,
}: {
  readonly block: TreeBlock
  readonly row: number
  readonly places: Places
}) {
  const parent = places.get(block.parentHash)
  return (
    <path
      class={block.isCanonical ? 'edge canonical' : 'edge'}
      d={
        parent === undefined
          ? `M${xOf(block.lane)} ${yOf(row)}V${places.size * ROW}`
          : edge(block.lane, row, parent.lane, parent.row)
      }
    />
  )
}

/** Where each block is drawn. */
type Places = ReadonlyMap<Hex, { readonly row: number; readonly lane: number }>

/** The drawing beside the rows, which hold all of it as text. */
function Graph({
  blocks,
  replaced,
}: {
  readonly blocks: readonly TreeBlock[]
  readonly replaced: ReadonlySet<Hex>
}) {
  const places: Places = new Map(blocks.map(({ hash, lane }, row) => [hash, { row, lane }]))
  const lanes = Math.min(MOST_LANES, Math.max(0, ...blocks.map(({ lane }) => lane)))
  return (
    <svg class="graph" width={xOf(lanes) + 14} height={blocks.length * ROW} aria-hidden="true">
      {blocks.map(
        (block, row) =>
          block.height > 0 && <ParentEdge key={block.hash} block={block} row={row} places={places} />,
      )}
      {blocks.flatMap((block, row) =>
        block.uncles.map((uncle) => {
          const target = places.get(uncle)
          if (target === undefined) return null
          return (
            <path
              key={`uncle ${block.hash} ${uncle}`}
              class="edge uncle"
              d={`M${xOf(block.lane)} ${yOf(row)}L${xOf(target.lane)} ${yOf(target.row)}`}
            />
          )
        }),
      )}
      {blocks.map(({ hash, lane, isCanonical }, row) => (
        <circle
          key={hash}
          class={replaced.has(hash) ? 'dot replaced' : isCanonical ? 'dot canonical' : 'dot'}
          cx={xOf(lane)}
          cy={yOf(row)}
          r={DOT}
        />
      ))}
    </svg>
  )
}

function Row({ block, isReplaced }: { readonly block: TreeBlock; readonly isReplaced: boolean }) {
  const { hash, height, isCanonical, totalDifficulty, uncles, includedBy, transactions } = block
  return (
    <div role="row" class="row" style={{ height: `${ROW}px` }} data-canonical={isCanonical}>
      <span role="cell">{grouped(height)}</span>
      <span role="cell">
        <BlockLink block={hash} text={shortened(hash, 4)} />
      </span>
      <span role="cell" title="Total difficulty of the branch, uncles included">
        {grouped(totalDifficulty)}
      </span>
      <span role="cell">
        {isCanonical ? 'canonical' : isReplaced ? <span class="badge bad">replaced</span> : 'side branch'}
        {includedBy !== undefined && (
          <span class="dim">
            {isReplaced ? ' ' : ', '}uncle of {grouped(includedBy)}
          </span>
        )}
        {uncles.length > 0 && <span class="dim wide">, {counted(uncles.length, 'uncle')}</span>}
      </span>
      <span role="cell">{counted(transactions, 'transaction')}</span>
      <span role="cell">
        <AddressLink address={block.miner} />
      </span>
      <span role="cell">
        <Age seconds={block.timestamp} />
      </span>
    </div>
  )
}

const COLUMNS = ['Height', 'Hash', 'Weight', 'Branch', 'Content', 'Miner', 'Age']

function Removal() {
  const change = lastRemoval.value
  if (change === undefined) return null
  const ancestor = toNumber(change.ancestor)
  return (
    <Section title={change.added.length === 0 ? 'Last revert' : 'Last reorganisation'}>
      <p>
        {counted(change.removed.length, 'block')} above block <BlockLink block={ancestor} />{' '}
        {change.removed.length === 1 ? 'was' : 'were'} removed
        {change.added.length === 0 ? '.' : `, and ${counted(change.added.length, 'block')} took their place.`}
      </p>
      <p>
        Removed: <BlockLinks hashes={change.removed.slice(0, MOST_HASHES)} />
      </p>
      {change.added.length > 0 && (
        <p>
          Added: <BlockLinks hashes={change.added.slice(0, MOST_HASHES)} />
        </p>
      )}
    </Section>
  )
}

interface Tree {
  /** Height of the head. */
  readonly newest: number
  readonly from: number
  readonly to: number
  readonly blocks: readonly TreeBlock[]
}

function Branches({ tree: { blocks, from, to, newest } }: { readonly tree: Tree }) {
  const replaced = new Set(lastRemoval.value?.removed)
  return (
    <Section
      title={`Heights ${grouped(from)} to ${grouped(to)}`}
      actions={
        <span class="neighbours">
          {to < newest && (
            <a href={linkTo('tree', to + HEIGHTS / 2)} aria-label="Newer heights">
              ↑ newer
            </a>
          )}
          {from > 0 && (
            <a href={linkTo('tree', Math.max(0, from - HEIGHTS / 2))} aria-label="Older heights">
              ↓ older
            </a>
          )}
        </span>
      }
    >
      <div class="branches">
        <Graph blocks={blocks} replaced={replaced} />
        <div role="table" aria-label="Branches" class="windowed">
          <div role="row" class="row head">
            {COLUMNS.map((name) => (
              <span role="columnheader" key={name}>
                {name}
              </span>
            ))}
          </div>
          {blocks.map((block) => (
            <Row key={block.hash} block={block} isReplaced={replaced.has(block.hash)} />
          ))}
        </div>
      </div>
    </Section>
  )
}

/** The page. */
export function TreePage({ argument }: { readonly argument: string }) {
  const middle = /^(\d+|0x[0-9a-f]+)$/.test(argument) ? Number(argument) : undefined
  const isOpen = may('eth_getBlocksByNumber')
  const tree = useQuery(
    `tree ${argument} ${isOpen}`,
    async (signal) => {
      if (!isOpen) return null
      const newest = await headHeight(signal)
      const to = middle === undefined ? newest : Math.min(newest, middle + HEIGHTS / 2)
      const from = Math.max(0, to - HEIGHTS + 1)
      return { newest, from, to, blocks: await loadBranches(from, to, signal) }
    },
    'live',
  )
  return (
    <>
      <Heading title="Block tree" />
      <Removal />
      <Show loaded={tree}>
        {(value) =>
          value === null ? (
            <p class="dim">The node does not list its branches for this caller</p>
          ) : (
            <Branches tree={value} />
          )
        }
      </Show>
    </>
  )
}
