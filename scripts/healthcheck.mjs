/**
 * Asks the node of this machine whether it lives, for a container's health check: ends with 0 when it does, and else
 * with 1 and a sentence. The port is the one of the environment, where the image's own settings stand.
 */
const port = process.env.TANDEM_PORT || '4444'
const PATIENCE_MS = 4000

try {
  const { status } = await fetch(`http://127.0.0.1:${port}/healthz`, {
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  if (status !== 200) throw new Error(`it answers with the status ${status}`)
} catch (error) {
  console.error(`The node on port ${port} is not well: ${error.cause?.message ?? error.message}.`)
  process.exitCode = 1
}
