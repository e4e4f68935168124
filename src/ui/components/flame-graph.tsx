/** Where the gas of a transaction went, loaded on request: functions above what they called, as wide as their gas. */
import { useState } from 'preact/hooks'
import { orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import {
  type FlameBox,
  type FlameNode,
  flameBoxes,
  flameTree,
  type GasProfile,
  isGasProfile,
} from '../flame.ts'
import { grouped, percent } from '../format.ts'
import { useAction } from '../query.ts'
import { ErrorText } from './action.tsx'
import { Section } from './layout.tsx'

const ROW_REM = 1.5
/** Hues of functions by their contract, and of lines. */
const HUES = 12

function hueOf(name: string): number {
  let sum = 0
  for (const character of name.split('.')[0] ?? '') sum = (sum * 31 + character.charCodeAt(0)) % 997
  return (sum % HUES) * (360 / HUES)
}

function textOf({ name, place, total }: FlameNode, whole: number): string {
  const where = place === '' || name === place ? '' : ` (${place})`
  return `${name}${where}: ${grouped(total)} gas, ${percent(total, whole)}`
}

function Frame({
  box: { node, path, row, left, width },
  whole,
  isZoomed,
  onZoom,
}: {
  readonly box: FlameBox
  readonly whole: number
  readonly isZoomed: boolean
  readonly onZoom: (path: readonly number[]) => void
}) {
  const text = textOf(node, whole)
  return (
    <button
      type="button"
      class="flame"
      title={text}
      aria-label={text}
      aria-pressed={isZoomed}
      style={{ top: `${row * ROW_REM}rem`, left: `${left}%`, width: `${width}%`, '--hue': hueOf(node.name) }}
      onClick={() => onZoom(path)}
    >
      {node.name}
    </button>
  )
}

function Graph({ profile }: { readonly profile: GasProfile }) {
  const [zoomed, setZoomed] = useState<readonly number[]>([])
  const root = flameTree(profile)
  const boxes = flameBoxes(root, zoomed)
  const rows = Math.max(...boxes.map(({ row }) => row)) + 1
  return (
    <>
      <p class="dim">
        {grouped(profile.gasUsed)} gas used
        {profile.refunds > 0 && `, after a refund of ${grouped(profile.refunds)}`}. A click on a frame widens
        it.
      </p>
      <section class="flames" aria-label="Flame graph" style={{ height: `${rows * ROW_REM}rem` }}>
        {boxes.map((box) => (
          <Frame
            key={box.path.join()}
            box={box}
            whole={root.total}
            isZoomed={box.path.join() === zoomed.join()}
            onZoom={setZoomed}
          />
        ))}
      </section>
    </>
  )
}

/** The section. */
export function FlameGraph({ hash }: { readonly hash: string }) {
  const [profile, setProfile] = useState<GasProfile | null>()
  const load = useAction(async () => {
    setProfile(await callFor(orNull(isGasProfile), 'evm_gasProfile', [hash]))
  })
  return (
    <Section title="Gas">
      {profile ? (
        <Graph profile={profile} />
      ) : (
        <button type="button" disabled={load.isRunning} onClick={() => load.run()}>
          Show where the gas went
        </button>
      )}
      <ErrorText message={load.error} />
    </Section>
  )
}
