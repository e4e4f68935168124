/** The source code of a contract, with the kind of its match, and where a build-info is dropped to verify another one. */
import { useState } from 'preact/hooks'
import { counted, type Hex } from '../format.ts'
import { highlighted } from '../highlight.ts'
import { useQuery } from '../query.ts'
import { loadSources, type Sources } from '../sources.ts'
import { may } from '../store.ts'
import { CompileForm } from './compile-form.tsx'
import { FileDrop } from './file-drop.tsx'
import { Choice, useText } from './form.tsx'
import { Fields, Section, Show } from './layout.tsx'
import { AddressLink } from './values.tsx'

/** Lines that are shown of one source. */
const MOST_LINES = 20_000

const MATCHES: Readonly<Record<Sources['match'], string>> = {
  exact: 'The metadata of the code has the hash of these sources',
  partial: 'The code agrees; its metadata is of other sources or missing',
}

function Code({ path, source }: { readonly path: string; readonly source: string }) {
  const lines = highlighted(source)
  return (
    <>
      <section
        class="source"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
        tabIndex={0}
        aria-label={`Source ${path}`}
      >
        <pre>
          {lines.slice(0, MOST_LINES).map((parts, i) => (
            <span class="code-line" key={i}>
              {parts.map(({ kind, text }, at) =>
                kind === undefined ? (
                  text
                ) : (
                  <span key={at} class={`of-${kind}`}>
                    {text}
                  </span>
                ),
              )}
              {'\n'}
            </span>
          ))}
        </pre>
      </section>
      {lines.length > MOST_LINES && <p class="dim">{counted(lines.length - MOST_LINES, 'more line')}</p>}
    </>
  )
}

function Files({ sources: { file, sources } }: { readonly sources: Sources }) {
  const paths = Object.keys(sources).sort((a, b) => Number(b === file) - Number(a === file))
  const chosen = useText(file)
  const path = Object.hasOwn(sources, chosen.value) ? chosen.value : (paths[0] ?? '')
  const [hasCopied, setHasCopied] = useState(false)
  const source = sources[path] ?? ''
  return (
    <>
      <div class="line">
        <Choice label="Source" text={chosen} options={paths.map((each) => [each, each])} />
        {isSecureContext && (
          <button
            type="button"
            class="plain"
            onClick={() => void navigator.clipboard.writeText(source).then(() => setHasCopied(true))}
          >
            {hasCopied ? 'Copied' : 'Copy'}
          </button>
        )}
      </div>
      <Code path={path} source={source} />
    </>
  )
}

function Known({ sources }: { readonly sources: Sources }) {
  const { match, name, file, compilerVersion, implementations } = sources
  return (
    <Section title="Source">
      <Fields
        rows={[
          ['Contract', `${file}:${name}`],
          [
            'Match',
            <span key="match">
              <span class={match === 'exact' ? 'badge good' : 'badge'}>{match}</span>{' '}
              <span class="dim">{MATCHES[match]}</span>
            </span>,
          ],
          ['Compiler', compilerVersion],
          [
            'Runs the code of',
            implementations.length > 0 &&
              implementations.map((address) => (
                <div key={address}>
                  <AddressLink address={address} full />
                </div>
              )),
          ],
        ]}
      />
      <Files sources={sources} />
    </Section>
  )
}

/** The tab. */
export function AddressSource({ address }: { readonly address: Hex }) {
  const sources = useQuery(
    `sources ${address} ${may('evm_sourcesAt')}`,
    (signal) => loadSources(address, signal),
    'live',
  )
  return (
    <Show loaded={sources}>
      {(found) => (
        <>
          {found !== null && <Known key={found.file} sources={found} />}
          {may('evm_addSources') && (
            <Section title={found === null ? 'Verify' : 'Verify with other sources'}>
              <p class="dim empty">
                {found === null && 'The sources of this contract are not known. '}
                The node compares the compiled code in a build-info of Hardhat or Foundry with the code of
                this address.
              </p>
              <FileDrop address={address} />
            </Section>
          )}
          <CompileForm address={address} />
          {found === null && !may('evm_addSources') && (
            <p class="dim empty">The sources of this contract are not known</p>
          )}
        </>
      )}
    </Show>
  )
}
