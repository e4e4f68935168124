/** The stack of a failed transaction by the sources that the node knows, the innermost frame first. */
import { isNumber, isText, listOf, objectOf, orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { useQuery } from '../query.ts'
import { Section, Table } from './layout.tsx'
import { Mono } from './values.tsx'

const isStackTrace = objectOf({
  stackTrace: listOf(
    objectOf(
      {},
      {
        contract: isText,
        function: isText,
        file: isText,
        line: isNumber,
        column: isNumber,
        address: isText,
        message: isText,
      },
    ),
  ),
})

/** The section; nothing where no sources are known. */
export function StackTrace({ hash }: { readonly hash: string }) {
  const found = useQuery(`stack ${hash}`, (signal) =>
    callFor(orNull(isStackTrace), 'evm_stackTrace', [hash], signal),
  )
  const frames = found.value?.stackTrace ?? []
  if (!frames.some(({ file }) => file !== undefined)) return null
  return (
    <Section title="Stack">
      <Table
        label="Stack"
        columns={['Function', 'Source', 'Failure']}
        rows={frames.toReversed().map((frame, i) => ({
          key: i,
          cells: [
            <Mono key="function">
              {[frame.contract ?? frame.address, frame.function]
                .filter((part) => part !== undefined)
                .join('.')}
            </Mono>,
            <Mono key="source">{frame.file && `${frame.file}:${frame.line}:${frame.column}`}</Mono>,
            frame.message ?? '',
          ],
        }))}
      />
    </Section>
  )
}
