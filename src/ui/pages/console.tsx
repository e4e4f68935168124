/** `#/console` and `#/console/<method>`: console.log lines and failures as they come, and any method of the node as a form. */
import { useEffect, useState } from 'preact/hooks'
import { call, callFor, RpcError } from '../client.ts'
import { ErrorText } from '../components/action.tsx'
import { useTexts } from '../components/form.tsx'
import { Heading, Section, Table } from '../components/layout.tsx'
import { Age, Mono, TransactionLink } from '../components/values.tsx'
import { messageOf } from '../format.ts'
import { clearOutput, output } from '../output.ts'
import { useAction, useQuery } from '../query.ts'
import { linkTo } from '../router.ts'
import {
  fieldsOf,
  isOpenRpc,
  type OpenRpc,
  type OpenRpcMethod,
  parametersOf,
  type SchemaField,
} from '../schema-fields.ts'
import { may, reconnections } from '../store.ts'

const FIRST_METHOD = 'eth_blockNumber'
/** Characters of a result in the page. */
const MOST_TEXT = 200_000
const MOST_MATCHES = 12

function Output() {
  const lines = [...output.value].reverse()
  return (
    <Section
      title="Output"
      actions={
        lines.length > 0 && (
          <span class="line">
            {may('evm_debugFailure') && lines.some(({ kind }) => kind === 'failure') && (
              <a class="button" href={linkTo('debug', 'failure')}>
                Debug the last failure
              </a>
            )}
            <button type="button" class="plain" onClick={clearOutput}>
              Clear
            </button>
          </span>
        )
      }
    >
      <Table
        label="Output"
        empty="Lines of console.log and failures of calls and transactions appear here."
        columns={['Line', { name: 'Transaction', wide: true }, { name: 'Age', end: true, wide: true }]}
        rows={lines.map(({ id, at, kind, transactionHash, text }) => ({
          key: id,
          cells: [
            <span key="text" class="console-line">
              <span class={kind === 'failure' ? 'badge bad' : 'badge'}>
                {kind === 'failure' ? 'failure' : 'log'}
              </span>{' '}
              <Mono>{text}</Mono>
            </span>,
            transactionHash === null ? (
              <span key="hash" class="dim">
                call
              </span>
            ) : (
              <TransactionLink key="hash" hash={transactionHash} />
            ),
            <Age key="age" seconds={at} />,
          ],
        }))}
      />
    </Section>
  )
}

/** The control that a parameter is entered in: a choice, a line of text, or an area for JSON. */
function Control({
  field: { isRequired, kind, choices, hint },
  value,
  onInput,
}: {
  readonly field: SchemaField
  readonly value: string
  readonly onInput: (value: string) => void
}) {
  if (kind === 'choice') {
    return (
      <select value={value} onChange={(event) => onInput(event.currentTarget.value)}>
        <option value="">{isRequired ? 'choose…' : 'default'}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  }
  if (kind === 'text') {
    return (
      <input
        type="text"
        value={value}
        placeholder={hint}
        onInput={(event) => onInput(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
    )
  }
  return (
    <textarea
      rows={3}
      value={value}
      placeholder={`JSON: ${hint}`}
      onInput={(event) => onInput(event.currentTarget.value)}
      spellcheck={false}
    />
  )
}

/** What a call has answered. */
interface Outcome {
  readonly text: string
  readonly milliseconds: number
  readonly isError: boolean
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2)
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}… (${text.length} characters)` : text
}

/** Calls a method; a failure is an outcome as well. */
async function outcomeOf(name: string, parameters: readonly unknown[]): Promise<Outcome> {
  const start = performance.now()
  const finished = (text: string, isError: boolean): Outcome => ({
    text,
    isError,
    milliseconds: performance.now() - start,
  })
  try {
    return finished(textOf(await call(name, parameters)), false)
  } catch (error) {
    if (!(error instanceof RpcError)) return finished(messageOf(error), true)
    const { code, message, data } = error
    return finished(textOf({ code, message, data }), true)
  }
}

function Result({ outcome: { text, isError } }: { readonly outcome: Outcome }) {
  return (
    <section
      class="bytes result"
      data-error={isError}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
      tabIndex={0}
      aria-label="Result"
      aria-live="polite"
    >
      <pre>{text}</pre>
    </section>
  )
}

function MethodForm({
  method,
  fields,
}: {
  readonly method: OpenRpcMethod
  readonly fields: readonly SchemaField[]
}) {
  const { texts, setText } = useTexts(fields.length)
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined)
  const action = useAction(async () => setOutcome(await outcomeOf(method.name, parametersOf(fields, texts))))
  return (
    <form
      aria-label={method.name}
      class="method-form"
      onSubmit={(event) => {
        event.preventDefault()
        action.run()
      }}
    >
      {method.summary !== undefined && <p class="dim empty">{method.summary.replaceAll('`', '')}</p>}
      {fields.map((field, i) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: Control is one
        <label class="field" key={field.name}>
          <span title={field.hint}>
            {field.name}
            {field.isRequired ? '' : ' (optional)'}
          </span>
          <Control field={field} value={texts[i] ?? ''} onInput={(text) => setText(i, text)} />
        </label>
      ))}
      <div class="line">
        <button type="submit" disabled={action.isRunning}>
          Call
        </button>
        <ErrorText message={action.error} />
        {outcome !== undefined && <span class="dim">{outcome.milliseconds.toFixed(0)} ms</span>}
      </div>
      {outcome !== undefined && <Result outcome={outcome} />}
    </form>
  )
}

/** The document that was loaded last, and after which reconnection: it is large, so only this page asks for it, once. */
let known: { readonly reconnection: number; readonly document: OpenRpc } | undefined

async function loadDocument(signal: AbortSignal): Promise<OpenRpc> {
  const reconnection = reconnections.peek()
  if (known?.reconnection !== reconnection) {
    known = { reconnection, document: await callFor(isOpenRpc, 'rpc.discover', [], signal) }
  }
  return known.document
}

/** The first methods whose names hold a text. */
function Matches({ names, filter }: { readonly names: readonly string[]; readonly filter: string }) {
  const matching = names.filter((name) => name.toLowerCase().includes(filter))
  return (
    <ul class="matches">
      {matching.slice(0, MOST_MATCHES).map((name) => (
        <li key={name}>
          <a href={linkTo('console', name)}>{name}</a>
        </li>
      ))}
    </ul>
  )
}

function MethodConsole({ name }: { readonly name: string }) {
  const loaded = useQuery(`document ${reconnections.value}`, loadDocument, 'once')
  // Forms that are being filled in stay until a new document is there.
  const document = loaded.value ?? known?.document
  const [filter, setFilter] = useState(name)
  useEffect(() => setFilter(name), [name])
  if (document === undefined) {
    return loaded.error === undefined ? <p class="dim">Loading…</p> : <ErrorText message={loaded.error} />
  }
  const names = document.methods.map((each) => each.name)
  const method = document.methods.find((each) => each.name === filter.trim())
  return (
    <Section title="Call a method">
      <label class="field method-name">
        <span>Method, one of {names.length}</span>
        <input
          list="methods"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
          autocomplete="off"
          spellcheck={false}
        />
        <datalist id="methods">
          {names.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      </label>
      {method === undefined ? (
        <Matches names={names} filter={filter.trim().toLowerCase()} />
      ) : (
        <MethodForm key={method.name} method={method} fields={fieldsOf(method, document)} />
      )}
    </Section>
  )
}

/** The page. */
export function ConsolePage({ argument }: { readonly argument: string }) {
  return (
    <>
      <Heading title="Console" />
      <div class="columns">
        <Output />
        <MethodConsole name={argument === '' ? FIRST_METHOD : argument} />
      </div>
    </>
  )
}
