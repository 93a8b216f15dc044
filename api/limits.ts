// Every number that bounds something, in one place. Sizes in bytes, times in milliseconds.

export const limits = {
	/** One API object, serialised. */
	objectBytes: 1_048_576,
	/** One MQTT packet, counted before the parser sees it. */
	packetBytes: 1_572_864,
	/** One HTTP request body. */
	requestBodyBytes: 2_097_152,

	/** One transaction of the commit pipeline (etcd takes 128 operations and 1.5 MB). */
	batchOperations: 100,
	batchBytes: 1_200_000,

	/** Messages from outside that wait in one cell. Beyond it asks fail with ERR_BUSY and tells are dead letters. */
	mailboxMessages: 256,
	/** Writes one actor may have open; the rest is recomputed at the next outcome. */
	pendingWrites: 100,
	/** Messages one cell handles before another has its turn. */
	cellBatchMessages: 64,
	/** How long actors run before I/O is looked at. */
	runSliceMs: 4,
	/** A step longer than this is logged with its actor. */
	slowStepMs: 50,
	/** The default deadline of an ask and of a command at the edge. */
	askDeadlineMs: 10_000,
	performDeadlineMs: 60_000,
	shutdownMs: 5_000,

	/** Restarts of one child within the window; then objects are parked and system actors escalate. */
	restartIntensity: 3,
	restartWindowMs: 60_000,
	actorBackoffFirstMs: 1_000,
	actorBackoffMaxMs: 300_000,

	/** Containers: at once, then 100 ms doubling to 5 min, forgotten after 10 min of health. */
	containerBackoffFirstMs: 100,
	containerBackoffMaxMs: 300_000,
	containerBackoffResetMs: 600_000,

	watchRingChanges: 10_000,
	watchRingBytes: 33_554_432,
	/** A watcher that takes nothing for so much is cut off. */
	watchBufferBytes: 8_388_608,
	eventsPerObject: 20,
	eventTtlMs: 3_600_000,
	eventFlushMs: 5_000,
	journalEntries: 64,
	journalTtlMs: 3_600_000,

	/** A wake of every object stands behind every edge. */
	resyncMs: 300_000,

	/** The stream between two systems. */
	streamWindowMessages: 1_000,
	streamWindowBytes: 1_048_576,
	streamAckMs: 50,
	streamResendMs: 250,
	streamResendMaxMs: 5_000,
	nodeSyncWindowBytes: 262_144,

	/** Publishes of the broker itself that may be outstanding. */
	brokerPublishWindow: 1_000,
	clientBufferBytes: 8_388_608,
	toolStallMs: 2_000,
	nodeStallMs: 30_000,

	/** One chunk of a log that crosses the bus. */
	logChunkBytes: 131_072,
	logFileBytes: 10_485_760,
	/** How long a reader that follows a log waits at the node before it asks again. */
	logFollowMs: 25_000,

	/** Grace of a pod that names none. */
	terminationGraceSeconds: 30,
} as const;
