/** `#/console` and `#/console/<method>`: console.log lines and failures as they come, and any method of the node as a form. */
import { useEffect, useState } from 'preact/hooks'
import { call, RpcError } from '../client.ts'
import { ErrorText } from '../components/action.tsx'
import { Heading, Section, Table } from '../components/layout.tsx'
import { Age, TransactionLink } from '../components/values.tsx'
import { messageOf } from '../format.ts'
import type { OpenRpc, OpenRpcMethod } from '../model.ts'
import { clearOutput, output } from '../output.ts'
import { useAction, useQuery } from '../query.ts'
import { linkTo } from '../router.ts'
import { fieldsOf, parametersOf, type SchemaField } from '../schema-fields.ts'
import { reconnections } from '../store.ts'

const FIRST_METHOD = 'eth_blockNumber'
/** Characters of a result in the page. */
const MOST_TEXT = 200_000

function Output() {
  const lines = [...output.value].reverse()
  return (
    <Section
      title="Output"
      actions={
        lines.length > 0 && (
          <button type="button" class="plain" onClick={clearOutput}>
            Clear
          </button>
        )
      }
    >
      <Table
        label="Output"
        empty="Lines of console.log and failures of calls and transactions appear here as they come."
        columns={['Line', { name: 'Transaction', wide: true }, { name: 'Age', end: true, wide: true }]}
        rows={lines.map(({ id, at, kind, transactionHash, text }) => ({
          key: id,
          cells: [
            <span key="text" class="console-line">
              <span class={kind === 'failure' ? 'badge bad' : 'badge'}>
                {kind === 'failure' ? 'failure' : 'log'}
              </span>{' '}
              <span class="mono">{text}</span>
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

function ParameterField({
  field,
  value,
  onInput,
}: {
  readonly field: SchemaField
  readonly value: string
  readonly onInput: (value: string) => void
}) {
  const { name, isRequired, kind, choices, hint } = field
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: each branch of the choice below is a control
    <label class="field">
      <span title={hint}>
        {name}
        {isRequired ? '' : ' (optional)'}
      </span>
      {kind === 'choice' ? (
        <select value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">{isRequired ? 'choose…' : 'default'}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : kind === 'text' ? (
        <input
          type="text"
          value={value}
          placeholder={hint}
          onInput={(event) => onInput(event.currentTarget.value)}
          autocomplete="off"
          spellcheck={false}
        />
      ) : (
        <textarea
          rows={3}
          value={value}
          placeholder={`JSON: ${hint}`}
          onInput={(event) => onInput(event.currentTarget.value)}
          spellcheck={false}
        />
      )}
    </label>
  )
}

interface Outcome {
  readonly text: string
  readonly milliseconds: number
  readonly isError: boolean
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2)
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}… (${text.length} characters)` : text
}

function MethodForm({
  method,
  fields,
}: {
  readonly method: OpenRpcMethod
  readonly fields: readonly SchemaField[]
}) {
  const [texts, setTexts] = useState<readonly string[]>(fields.map(() => ''))
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined)
  const action = useAction(async () => {
    const parameters = parametersOf(fields, texts)
    const start = performance.now()
    const finish = (text: string, isError: boolean) =>
      setOutcome({ text, isError, milliseconds: performance.now() - start })
    try {
      finish(textOf(await call(method.name, parameters)), false)
    } catch (error) {
      const details =
        error instanceof RpcError ? { code: error.code, message: error.message, data: error.data } : undefined
      finish(details === undefined ? messageOf(error) : textOf(details), true)
    }
  })
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
        <ParameterField
          key={field.name}
          field={field}
          value={texts[i] ?? ''}
          onInput={(value) => setTexts((before) => before.map((text, at) => (at === i ? value : text)))}
        />
      ))}
      <div class="line">
        <button type="submit" disabled={action.isRunning}>
          Call
        </button>
        <ErrorText message={action.error} />
        {outcome !== undefined && <span class="dim">{outcome.milliseconds.toFixed(0)} ms</span>}
      </div>
      {outcome !== undefined && (
        <section
          class="bytes result"
          data-error={outcome.isError}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
          tabIndex={0}
          aria-label="Result"
          aria-live="polite"
        >
          <pre>{outcome.text}</pre>
        </section>
      )}
    </form>
  )
}

/** The document that was loaded last, and after which reconnection: it is large, so only this page asks for it, once. */
let known: { readonly reconnection: number; readonly document: OpenRpc } | undefined

async function loadDocument(signal: AbortSignal): Promise<OpenRpc> {
  const reconnection = reconnections.peek()
  if (known?.reconnection !== reconnection) {
    known = { reconnection, document: await call<OpenRpc>('rpc.discover', [], signal) }
  }
  return known.document
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
          onInput={(event) => {
            setFilter(event.currentTarget.value)
          }}
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
        <ul class="matches">
          {names
            .filter((each) => each.toLowerCase().includes(filter.trim().toLowerCase()))
            .slice(0, 12)
            .map((each) => (
              <li key={each}>
                <a href={linkTo('console', each)}>{each}</a>
              </li>
            ))}
        </ul>
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
