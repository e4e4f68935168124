/** A port of its own for the monitoring pages, which serves nothing else. */
import type { Logger } from '../logger.ts'
import { createServer } from '../upstream/node-http.ts'
import type { HostCheck } from './host-check.ts'
import { pathOf } from './incoming-request.ts'
import { listen } from './listen.ts'
import { type MonitoringPages, sendPage } from './monitoring-pages.ts'
import { BROKEN, forbidden, NO_SUCH_PAGE, PAGE_VERBS, refuse, wrongVerb } from './refusal.ts'

/** A listening port. */
export interface MonitoringServer {
  readonly port: number
  close(): Promise<void>
}

/** Opens the port. Throws `ListenError`. */
export async function serveMonitoring(parts: {
  readonly host: string
  readonly port: number
  readonly monitoring: MonitoringPages
  readonly check: HostCheck
  readonly logger: Logger
}): Promise<MonitoringServer> {
  const { monitoring, check, logger } = parts
  const server = createServer((request, response) => {
    request.on('error', () => {}).resume()
    const reason = check.refusal(request.headers)
    if (reason !== undefined) return refuse(response, forbidden(reason))
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, wrongVerb(PAGE_VERBS))
    monitoring.page(pathOf(request.url)).then(
      (page) => {
        if (page === undefined) refuse(response, NO_SUCH_PAGE)
        else sendPage(response, page)
      },
      (error) => {
        logger.error('a page failed', { error })
        refuse(response, BROKEN)
      },
    )
  })
  const port = await listen(server, parts.host, parts.port)
  server.on('error', (error) => logger.error('the monitoring port failed', { error }))
  return {
    port,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}
