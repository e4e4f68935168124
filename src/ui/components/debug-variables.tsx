/** The variables of a frame in the debugger, with their parts, and the machine's state. */
import { useState } from 'preact/hooks'
import { loadMachine, loadVariables, type Machine, type Variable } from '../debugger/session.ts'
import { useQuery } from '../query.ts'
import { Fields, Section, Show } from './layout.tsx'
import { Mono } from './values.tsx'

/** A frame of a session at a step. */
export interface FramePlace {
  readonly session: string
  readonly step: number
  /** Counted from the innermost one. */
  readonly frame: number
}

const SCOPES = [
  [
    'locals',
    'Locals',
    'This code does not tell where its variables are: it is optimised, or compiled via IR',
  ],
  ['message', 'Message', 'Not known'],
  ['state', 'State', 'Not known'],
] as const

function useVariables({ session, step, frame }: FramePlace, scope: string, path: readonly string[]) {
  const key = `debug ${session} ${step} ${frame} ${scope} ${path.join('\n')}`
  return useQuery(key, (signal) => loadVariables(session, frame, scope, path, signal), 'once')
}

function Parts({
  place,
  scope,
  path,
}: {
  readonly place: FramePlace
  readonly scope: string
  readonly path: readonly string[]
}) {
  const parts = useVariables(place, scope, path)
  return (
    <Show loaded={parts}>
      {(found) => <Rows place={place} scope={scope} path={path} variables={found ?? []} />}
    </Show>
  )
}

function Row({
  place,
  scope,
  path,
  variable: { name, type, value, size },
}: {
  readonly place: FramePlace
  readonly scope: string
  readonly path: readonly string[]
  readonly variable: Variable
}) {
  const [isOpen, setIsOpen] = useState(false)
  if (size === 0) {
    return (
      <li>
        <Mono wrap>
          {name} = <strong>{value}</strong>
        </Mono>{' '}
        <span class="dim">{type}</span>
      </li>
    )
  }
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>
          <Mono>{name}</Mono> <span class="dim">{type}</span>
        </summary>
        {isOpen && <Parts place={place} scope={scope} path={path} />}
      </details>
    </li>
  )
}

function Rows({
  place,
  scope,
  path,
  variables,
}: {
  readonly place: FramePlace
  readonly scope: string
  readonly path: readonly string[]
  readonly variables: readonly Variable[]
}) {
  if (variables.length === 0) return <p class="dim empty">None</p>
  return (
    <ul class="variables">
      {variables.map((variable) => (
        <Row
          key={variable.name}
          place={place}
          scope={scope}
          path={[...path, variable.name]}
          variable={variable}
        />
      ))}
    </ul>
  )
}

function Scope({
  place,
  scope: [scope, title, unknown],
}: {
  readonly place: FramePlace
  readonly scope: (typeof SCOPES)[number]
}) {
  const variables = useVariables(place, scope, [])
  return (
    <Section title={title}>
      <Show loaded={variables}>
        {(found) =>
          found === null ? (
            <p class="dim empty">{unknown}</p>
          ) : (
            <Rows place={place} scope={scope} path={[]} variables={found} />
          )
        }
      </Show>
    </Section>
  )
}

/** The variables of a frame. */
export function DebugVariables({ place }: { readonly place: FramePlace }) {
  return (
    <>
      {SCOPES.map((scope) => (
        <Scope key={scope[0]} place={place} scope={scope} />
      ))}
    </>
  )
}

function Words({
  label,
  words,
}: {
  readonly label: string
  readonly words: readonly (readonly [string, string])[]
}) {
  return (
    <section
      class="bytes words"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
      tabIndex={0}
      aria-label={label}
    >
      {words.length === 0 ? (
        <span class="dim">empty</span>
      ) : (
        words.map(([name, word]) => (
          <div key={name}>
            <span class="dim">{name}</span> {word}
          </div>
        ))
      )}
    </section>
  )
}

function MachineState({ machine: { pc, opcode, stack, memory, storage } }: { readonly machine: Machine }) {
  const words = memory.slice(2).match(/.{1,64}/g) ?? []
  return (
    <>
      <Fields
        rows={[
          ['Opcode', <Mono key="opcode">{opcode}</Mono>],
          ['Program counter', pc],
        ]}
      />
      <h3>Stack</h3>
      <Words label="Stack" words={stack.toReversed().map((word, i) => [String(i), word])} />
      <h3>Memory</h3>
      <Words label="Memory" words={words.map((word, i) => [`0x${(32 * i).toString(16)}`, word])} />
      <h3>Storage</h3>
      <Words label="Storage" words={Object.entries(storage).map(([slot, word]) => [`${slot}:`, word])} />
    </>
  )
}

/** Stack, memory and storage of a frame; loaded when they are opened. */
export function DebugMachine({ place }: { readonly place: FramePlace }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Section title="Machine">
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Stack, memory and storage</summary>
        {isOpen && <LoadedMachine place={place} />}
      </details>
    </Section>
  )
}

function LoadedMachine({ place: { session, step, frame } }: { readonly place: FramePlace }) {
  const machine = useQuery(
    `machine ${session} ${step} ${frame}`,
    (signal) => loadMachine(session, frame, signal),
    'once',
  )
  return (
    <Show loaded={machine}>
      {(found) => (found === null ? <p class="dim empty">Not known</p> : <MachineState machine={found} />)}
    </Show>
  )
}
