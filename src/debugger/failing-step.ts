/** The step at which an execution failed. */
import { equal } from '../encoding/bytes.ts'
import type { RecordedMessage } from '../source-level/message-recorder.ts'
import { lastSent } from '../source-level/stack/message-run.ts'
import type { Execution } from './execution.ts'

/** Does a message fail with the failure of one that it sent? */
function passesOn(message: RecordedMessage, sent: RecordedMessage): boolean {
  if (sent.failure === undefined || message.failure === undefined || sent.pcs.length === 0) return false
  return equal(message.output, sent.output)
}

/** The last step of the innermost message whose failure became that of the execution; `undefined` where it succeeded, or nothing ran. */
export function failingStep(root: RecordedMessage, execution: Execution): number | undefined {
  if (root.failure === undefined || execution.length === 0) return undefined
  let failing = root
  for (
    let sent = lastSent(failing)?.message;
    sent !== undefined && passesOn(failing, sent);
    sent = lastSent(sent)?.message
  ) {
    failing = sent
  }
  return failing.pcs.length === 0 ? undefined : execution.lastStepOf(failing)
}
