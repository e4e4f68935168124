/** The log of a cluster in NATS. */
import { jetstream } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { namesOf } from '../../src/replication/names.ts'
import { createChunkReader, decodeLogRecord, type LogRecord } from '../../src/replication/record.ts'

/** All records of a log, oldest first. */
export async function logRecords(url: string, cluster: string): Promise<LogRecord[]> {
  const connection = await connect({ servers: url.split(',') })
  try {
    const { stream } = namesOf(cluster)
    const consumer = await jetstream(connection).consumers.get(stream)
    const info = await consumer.info()
    const chunks = createChunkReader()
    const records: LogRecord[] = []
    let left = info.num_pending
    if (left === 0) return records
    for await (const message of await consumer.consume()) {
      const bytes = chunks.read(message.data)
      if (bytes !== undefined) records.push(decodeLogRecord(bytes))
      if (--left === 0) break
    }
    return records
  } finally {
    await connection.close()
  }
}

/** The terms of the records of a log, oldest first. */
export async function logTerms(url: string, cluster: string): Promise<number[]> {
  return (await logRecords(url, cluster)).map(({ term }) => term)
}
