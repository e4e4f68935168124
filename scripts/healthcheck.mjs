/**
 * Asks the node of this machine whether it is live, for a container's health check: ends with 0 when it does, and else
 * with 1 and a sentence. Port and TLS are those of the environment, where the settings of a container stand.
 */
import http from 'node:http'
import https from 'node:https'

const { TANDEM_PORT, TANDEM_TLS_CERT } = process.env
const port = TANDEM_PORT || '4444'
const PATIENCE_MS = 4000

// The certificate is for the name that callers use, not for this machine's own address.
const options = { host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, timeout: PATIENCE_MS }

/** @param {string} why */
function notWell(why) {
  console.error(`The node on port ${port} is not well: ${why}.`)
  process.exit(1)
}

const request = (TANDEM_TLS_CERT ? https : http).get(options, ({ statusCode }) => {
  if (statusCode !== 200) notWell(`it answers with the status ${statusCode}`)
  process.exit(0)
})
request.on('timeout', () => notWell('it does not answer'))
request.on('error', ({ message }) => notWell(message))
