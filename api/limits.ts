// Every number that bounds something, in one place. The unit is the end of the name: `…Bytes`, `…Ms`, `…Seconds`; else a count.
//
// Numbers of a format or a protocol (a header's length, RFC 1123's 63 characters) are where that format is.

export const limits = {
	/** One API object, serialised. */
	objectBytes: 1_048_576,
	/** How deep one may nest. */
	objectDepth: 64,
	/** Fields of one message of a body in protobuf. */
	protobufFields: 20_000,
	/** Operations of one JSON patch, as in Kubernetes. */
	patchOperations: 10_000,
	/** Items of lists that move because those operations put in or take away others before them. */
	patchShiftedItems: 10_000_000,
	/** Members and items that one strategic merge patch merges into, each as often as it does. */
	patchMergedMembers: 250_000,
	/** All annotations of one object together, as in Kubernetes. */
	annotationBytes: 262_144,
	/** Problems told of one input; the rest is counted. */
	problemsShown: 100,
	/** Fields told of one pod that cannot be changed. */
	changesShown: 20,
	/** Characters of a value that a message shows. */
	shownCharacters: 60,
	/** Characters of a name that an answer repeats: no object has a longer one. */
	shownNameCharacters: 253,
	/** Characters of a field's path that a message shows. */
	shownPathCharacters: 500,
	/** Longer words are no typing error, and comparing them with others costs. */
	suggestCharacters: 64,
	/** A quantity such as `500m`. */
	quantityCharacters: 40,
	/** What one container or claim may ask for, or a volume have, in thousandths of a CPU or bytes (1Pi): sums of them stay whole numbers. */
	resourceAmount: 1_125_899_906_842_624,
	/** Of one ReplicaSet. Each is an actor; a slip of the finger must not fill the memory with them. */
	replicas: 100_000,
	/** Claims that each pod of a StatefulSet has. */
	claimTemplates: 32,
	/** Claims of one StatefulSet: its replicas, times its templates of claims. */
	setClaims: 100_000,
	/** Completions of one Indexed Job, as in Kubernetes: the text of those that are over stays below a third of `objectBytes`. */
	jobIndexes: 100_000,
	/** A schedule of a CronJob. */
	scheduleCharacters: 512,
	/** Times of a schedule that are counted when they were missed; of all of them the newest is made good. As in Kubernetes. */
	missedTimes: 100,
	/** Jobs that are not over, in the status of their CronJob: the newest. */
	activeJobs: 1_000,
	/** Of a text of indexes in a manifest, as in Kubernetes. */
	intervalCharacters: 65_536,
	/** Pods of a Job that are over, counted and not let go yet: their uids are in its status. */
	uncountedPods: 100,
	/** A Job waits so long after a pod that failed, doubling with each in a row, as in Kubernetes. */
	jobBackoffFirstMs: 10_000,
	jobBackoffMaxMs: 360_000,
	/** Paths of one Dns, or of all rules of one Ingress; services behind one of them; those of one Dns with a rule by a regular expression. */
	routePaths: 256,
	routeBackends: 16,
	routePatterns: 32,
	/** Of a regular expression: its text, its repetitions added up, and the steps of its program, through which each character may have to go. */
	routePatternCharacters: 256,
	routePatternRepeats: 100,
	routePatternSteps: 256,
	/** A longer path, header or cookie matches no regular expression. */
	routeMatchedCharacters: 2_048,
	/** A weight of a service behind a path, as in the Gateway API. */
	routeWeight: 1_000_000,
	/** Paths of other objects that a Dns or an Ingress says it does not get. */
	routesTakenShown: 5,
	/** Rules, peers, exceptions and ports of one direction of a NetworkPolicy. */
	policyParts: 1_024,
	/** Ranges of addresses that all rules of a NetworkPolicy come to: it says that further ones are not let through. */
	policyRanges: 16_384,
	/** Nodes and pods that a NetworkPolicy names where it is not enforced. */
	policyNamesShown: 5,
	/** Connections of clients to a node's router; of what it reads of a request's header, and how long it waits for that. */
	routerConnections: 4_000,
	routerHeaderBytes: 32_768,
	routerHeaders: 200,
	routerHeaderMs: 10_000,
	/** Requests that one connection may send before the first is answered. */
	routerPipelined: 64,
	/** A client that neither sends what is waited for nor reads what is sent is cut off. */
	routerClientMs: 60_000,
	/** A service that has answered and is silent, and a WebSocket on which nobody speaks. */
	routerSilenceMs: 3_600_000,
	/** Until an endpoint has taken a connection, and until it begins to answer. */
	routerConnectMs: 2_000,
	routerAnswerMs: 60_000,
	/** Calls of functions that a node's router has under way at servers: below what one login has of connections there. */
	routerServerCalls: 400,
	/** Whether the server that leads still does is looked at so often while it is asked; and where none does, whether one does by now. */
	routerServerLookMs: 5_000,
	routerServerAgainMs: 1_000,
	/** Instances of functions on a node of which its router is told. */
	routerInstances: 1_000,
	/** Endpoints that one request is sent to, while nothing was lost of it. */
	routerTries: 4,
	/** Connections to endpoints that wait for the next request: of one endpoint, of all, and how long; clients' connections wait as long. */
	routerRestingPerEndpoint: 64,
	routerResting: 512,
	routerRestMs: 60_000,
	/** What a client still sends after the answer has ended is read for so long. */
	routerLingerMs: 2_000,
	/** A request to a function, and an answer that is not streamed. */
	functionBodyBytes: 6_291_456,
	functionAnswerBytes: 6_291_456,
	/** What one call of a function may take, unless it is told otherwise, and at most. */
	functionTimeoutMs: 30_000,
	functionTimeoutMaxMs: 900_000,
	/** What the runner of a function may take until it has loaded its code. */
	functionLoadMs: 30_000,
	/** The longest pause between two looks whether the program of a function listens. */
	functionPortLookMs: 200,
	/** Calls that one instance of a function takes at a time: unless it says otherwise, and at most. */
	functionConcurrencyDefault: 10,
	functionConcurrency: 1_000,
	/** Instances of a function: unless it says otherwise, and at most. */
	functionInstancesDefault: 10,
	functionInstances: 1_000,
	/** A function without calls keeps its instances for so long, unless it says otherwise; and at least and at most. */
	functionIdleMs: 60_000,
	functionIdleLeastMs: 1_000,
	functionIdleMostMs: 86_400_000,
	/** Of the body of a call so much is kept until an instance has it: a smaller one can go to another instance. */
	functionKeptBodyBytes: 65_536,
	/** Calls of a function that wait for an instance, and how long one waits. */
	functionQueue: 1_000,
	functionHoldMs: 60_000,
	/** How often it is looked whether an instance will ever come, and how often all of them must have been restarted in vain for that. */
	functionLookMs: 2_000,
	functionHopelessRestarts: 3,
	/** It keeps away from instances that have not taken it for so long, as long as there is no other. */
	functionAvoidMs: 1_000,
	/** What an instance of a function may take of memory, and what is kept free for it on its node, unless it says otherwise. */
	functionMemoryBytes: 536_870_912,
	functionMemoryRequestBytes: 33_554_432,
	/** Versions of a function that share its calls. */
	functionShares: 16,
	/** Triggers of a function, or of a workflow. */
	objectTriggers: 32,
	/** How often a delivery that failed is tried again: unless its trigger says otherwise, and at most; the first pause, doubled each time, and the longest. */
	deliveryRetries: 5,
	deliveryRetriesMost: 100,
	deliveryPauseMs: 200,
	deliveryPauseMostMs: 60_000,
	/** What waits to be delivered: of one function, of all, and their bytes together; and the body of one. */
	deliveriesPerFunction: 20_000,
	deliveries: 100_000,
	deliveriesBytes: 268_435_456,
	/** The same of one function. */
	deliveriesBytesPerFunction: 67_108_864,
	deliveryBytes: 262_144,
	/** Of the message of a function that threw, in events and dead letters. */
	functionComplaintCharacters: 1_024,
	/** Deliveries that are under way at a time: to one function, and to all. */
	deliveriesUnderWay: 64,
	deliveriesUnderWayAll: 1_024,
	/** The answer of a call that is fetched later: how large it may be, how long it is kept, and how many are. */
	resultBytes: 262_144,
	resultKeptMs: 3_600_000,
	results: 10_000,
	/** All of them together; and what is kept of the content type of one. */
	resultsBytes: 268_435_456,
	contentTypeCharacters: 256,
	/** A request for it waits so long at most. */
	resultWaitMs: 60_000,
	/** How often it is looked whether the time of a trigger has come, where it is far away. */
	scheduleLookMs: 3_600_000,
	/** A time that is seen so much later, since the clock was set, is passed over. */
	scheduleLateMs: 60_000,
	/** Triggers that one message matches: a topic that matches more is not taken. */
	messageTriggers: 1_000,
	/** Calls by MQTT at QoS 0 of one login that are under way; and an answer to such a call, of any QoS. */
	invokesPerLogin: 64,
	invokeReplyBytes: 1_048_576,
	/** Functions whose calls a server counts: beyond them the one that was called least recently is counted anew. */
	functionCounters: 10_000,
	/** Instances of functions of which a server keeps when they had their node, ran and were ready: beyond them the one that changed least recently is forgotten. */
	functionStarts: 10_000,
	/** Artifacts, the uploaded code of functions: how many a cluster keeps, and all of them together, packed. */
	artifacts: 1_000,
	artifactsBytes: 1_073_741_824,
	/** The bytes of one that are in one record of the store: in base64, with room for what is around them. */
	artifactChunkBytes: 262_144,
	/** Uploads that are under way at a time: each is in memory until it is stored. */
	artifactUploads: 4,
	/** How long the CLI waits for the answer to one, from the last that it could send. */
	artifactUploadMs: 120_000,
	/** One that nothing names is removed when it was last uploaded or asked for so long ago; and how often that is looked at. */
	artifactUnusedMs: 3_600_000,
	artifactSweepMs: 3_600_000,
	/** What a node keeps of them, packed: beyond it those go that were used least recently. And how long one may take to come there. */
	artifactCacheBytes: 1_073_741_824,
	artifactFetchMs: 300_000,
	/** A file that was handed out is being read for so long at most; and so many are fetched at a time. */
	artifactInUseMs: 60_000,
	artifactFetches: 4,
	/** So long after its time a runner that has not said so is killed. */
	functionOverdueMs: 1_000,
	/** Runners that a node keeps waiting for their functions, of each language and of each of its images; and how long after the last instance that had begun there. */
	warmRunners: 2,
	warmRunnerIdleMs: 3_600_000,
	/** Images of Docker for which runners wait: those that instances were begun of last. */
	warmRunnerImages: 2,
	/** One in whose network a new pod is ends when the instance has not begun by then. */
	warmRunnerKeptMs: 60_000,
	/** Interpreters that cannot wait, of which that is remembered, and controllers whose pods cannot have one that waits. */
	warmPrograms: 16,
	/** One that does not wait by then, or has not become the runner of its pod, is killed. */
	warmRunnerStartMs: 10_000,
	warmRunnerBeginMs: 5_000,
	/** What one is told to become, as a line: a larger one begins in the other way. */
	warmRunnerLineBytes: 131_072,
	/** The access log is turned at so much, one older file stays; lines wait so long, and so many, to be written together; and one field of a line. */
	routerLogBytes: 16_777_216,
	routerLogMs: 500,
	routerLogChunkBytes: 65_536,
	routerLogWaitingBytes: 1_048_576,
	routerLogFieldCharacters: 2_048,
	/** A port of the router that is taken is tried again so often. */
	routerPortMs: 5_000,
	/** Certificates that a node serves; the certificates in one Secret, and its key. */
	routerCertificates: 500,
	certificateBytes: 65_536,
	/** A certificate that could not be fetched is asked for again after so long, doubling. */
	certificateAgainFirstMs: 1_000,
	certificateAgainMaxMs: 60_000,
	/** Connections of clients that have not finished their handshake of TLS, and how long one may take. */
	routerHandshakes: 1_000,
	routerHandshakeMs: 10_000,
	/** One MQTT packet, counted before the parser sees it. */
	packetBytes: 1_572_864,
	/** One HTTP request body. */
	requestBodyBytes: 2_097_152,
	/** A client that sends somewhat too much is heard to its end, so that it can read the refusal; beyond this it is cut off. */
	discardedBodyBytes: 8_388_608,
	/** One segment of a URL's path: longer than any name there is. */
	pathSegmentCharacters: 512,

	/** One transaction of the commit pipeline (etcd takes 128 operations and 1.5 MB). */
	batchOperations: 100,
	batchBytes: 1_200_000,
	/** Removals of what was kept beside objects that go with one batch, so that they keep nobody waiting; where an object of that name is to be made anew, all there is room for. */
	leavingParts: 30,
	/** A batch whose outcome is unknown is asked for so often, with so much between; then the term ends. */
	storeAskAttempts: 5,
	storeAskMs: 200,
	/** Subnets of which a node says that its host uses them for something else. */
	occupiedSubnets: 64,
	/** How long one call to a store on another host (etcd) may take; then its outcome is unknown. */
	storeCallMs: 2_000,
	/** A silent connection to it is tried after so long; etcd itself allows no less than 5 s. */
	storeKeepAliveMs: 10_000,
	/** No member of it can be reached: the next call waits so long, doubling. */
	storeBackoffFirstMs: 50,
	storeBackoffMaxMs: 1_000,
	/** One answer of it: a larger portion of records is asked for in halves. */
	storeAnswerBytes: 67_108_864,
	/** How often etcd is told to forget what was overwritten. */
	storeCompactMs: 300_000,
	/** Room that an embedded store keeps for its next start, should the disk be full then: as much as its log has, up to this. */
	storeReserveBytes: 6_291_456,
	/** Lineages that a store replaces, the newest first: one more with each restore. */
	lineagesReplaced: 16,
	/** One line of a backup: a record whose every character is written as six. */
	backupLineBytes: 8_388_608,
	/** Of the leader's term: etcd takes no shorter lease with its defaults. It is over for the holder at two thirds. */
	leaseTtlMs: 2_000,
	/** A server that gave its term up campaigns again after so long, so that another may lead. */
	electionAgainMs: 1_000,
	/** How often each server looks who leads, behind the watch that tells; and how soon it tries again what failed. */
	electionLookMs: 1_000,
	electionRetryMs: 200,

	/** Messages from outside that wait in one cell. Beyond it asks fail with ERR_BUSY and tells are dead letters. */
	mailboxMessages: 256,
	/** Actors of this system that another one may watch at a time; of a further one it is told at once that it cannot. */
	watchesPerPeer: 10_000,
	/** Writes one actor may have open; the rest is recomputed at the next outcome. */
	pendingWrites: 100,
	/** Pods of one owner that may be asked for before the first is there. */
	firstCreates: 16,
	/** How long the pod of a DaemonSet that is over stays before another one takes its place. */
	failedDaemonPodMs: 10_000,
	/** Messages one cell handles before another has its turn. */
	cellBatchMessages: 64,
	/** How long actors run before I/O is looked at. */
	runSliceMs: 4,
	/** A step longer than this is logged with its actor. */
	slowStepMs: 50,
	/** The default deadline of an ask and of a command at the edge. */
	askDeadlineMs: 10_000,
	performDeadlineMs: 60_000,
	/** A stop at the edge may take its grace and then so much. */
	stopSlackMs: 30_000,
	/** Deadlines are rung together, at most so late. */
	deadlineBucketMs: 50,
	/** Ticks that nact may hold at a time: enough to fill a slice, few enough to hand back cheaply when it is used up. */
	executorTicks: 256,
	shutdownMs: 5_000,

	/** Restarts of one child within the window; then objects are parked and system actors escalate. */
	restartIntensity: 3,
	restartWindowMs: 60_000,
	/** The second restart of an actor in a row waits so long, the first not at all. */
	actorRestartFirstMs: 100,
	/** Retries of a parked actor. */
	actorBackoffFirstMs: 1_000,
	actorBackoffMaxMs: 300_000,
	/** An actor that did not crash for so long begins anew with its back-off. */
	actorWellMs: 600_000,

	/** Containers: at once, then 100 ms doubling to 5 min, forgotten after 10 min of health. */
	containerBackoffFirstMs: 100,
	containerBackoffMaxMs: 300_000,
	containerBackoffResetMs: 600_000,
	/** What a pod may say of its own instead: no wait at all would be a busy loop. */
	backoffLeastMs: 10,
	backoffMostMs: 86_400_000,
	/** What the edge may take beyond the timeout of a probe or a hook before it counts as hung. */
	actSlackMs: 2_000,
	/** A hook for which the edge has no room is asked for again after so long. */
	hookAgainMs: 250,
	/** Probes of containers that an agent finds begin within so much, not all at once. */
	probeSpreadMs: 1_000,
	/** What a postStart hook may take. */
	postStartMs: 3_600_000,
	/** How long the programs of a pod to which a Service leads go on as they are when it ends, without a preStop hook: nodes hear of it meanwhile. */
	drainMs: 500,
	/** What a program has of its grace at least when its preStop hook is over. */
	graceAfterHookMs: 2_000,

	/** Changes kept for watches that come back. */
	watchRingChanges: 10_000,
	watchRingBytes: 33_554_432,
	/** A watcher that takes nothing for so much is cut off. */
	watchBufferBytes: 8_388_608,
	/** Events kept of one object, and how many of those have the same reason and are about the same part, with different causes. */
	eventsPerObject: 20,
	eventAspects: 5,
	/** How long they are told; and how often those are written that came with no commit. */
	eventTtlMs: 3_600_000,
	eventFlushMs: 5_000,
	/**
	 * What led to the commits of one object: of how many of them. Of how many in any case, and of how many more of all objects together; and how long that is
	 * told.
	 */
	journalEntries: 64,
	journalEntriesKept: 4,
	journalEntriesMore: 100_000,
	journalTtlMs: 3_600_000,
	/** Objects that are gone of which they are told. */
	goneObjects: 2_000,
	/** What they were last, all together; of an object that is larger than the second only that it was there is kept. */
	goneBytes: 16_777_216,
	goneObjectBytes: 65_536,
	/** Pods that `why` looks at one by one; the others are counted. */
	whyPods: 2_000,
	/** States under way of a run that one `why` looks at, and records of its history, the last ones. */
	whyRunStates: 100,
	whyRunRecords: 200,
	/** How long it waits for the last lines of one container, and how many it shows. */
	whyLogMs: 2_000,
	whyLogLines: 10,

	/** A wake of every object stands behind every edge, in so many portions spread over the time. */
	resyncMs: 300_000,
	resyncSlices: 10,

	/** Names generated for one object before giving up: each try meets one in 14 million. */
	nameTries: 8,
	/** Pods the scheduler tries to place in one step, so that a long queue never holds up the other actors. */
	schedulerStepPods: 200,
	/** A cycle reads every node: under load it waits until so many more binds may be open. */
	schedulerCycleWrites: 50,
	/** Nodes and pods that one step of it compares at most: some 20 ms. */
	schedulerStepWork: 300_000,
	/** While pods fit nowhere all are tried so often, whatever is known of what changed. */
	schedulerAgainMs: 60_000,
	/** A pod that fits nowhere is told another reason at most so often. */
	schedulerTellMs: 10_000,
	/** Nodes that are searched for victims of one pod. */
	preemptionNodes: 100,
	/** Pods that are read in one such search. */
	preemptionPods: 10_000,
	/** Such searches in one step; one of no more than `nodesNamed` nodes does not count. */
	preemptionSearches: 5,
	/** Pods that have to go for one. */
	preemptionVictims: 49,
	/** A pod that a disruption budget gave to an eviction and that is not deleted by then counts again, as in Kubernetes; and how many such a budget keeps. */
	disruptionMs: 120_000,
	disruptedPods: 2_000,
	/** Nodes whose reasons are told one by one when a pod fits nowhere; more are summed up by reason. */
	nodesNamed: 10,

	/** Of entries of one sort that clients can cause, the log takes one in so long. */
	repeatedLogMs: 10_000,

	/** The stream between two systems. */
	streamWindowMessages: 1_000,
	streamWindowBytes: 1_048_576,
	/** A system of which nothing was heard for so long, while something waits for it, is forgotten with what waits. */
	streamSilentMs: 600_000,
	/** One body; the packet around it has to fit into `packetBytes`. */
	streamBodyBytes: 1_507_328,
	/** What packet, body and message put around an object of `objectDepth`. */
	envelopeDepth: 16,
	/** A boot id, or an echo of one, as a peer says it. */
	bootCharacters: 128,
	streamAckMs: 50,
	streamResendMs: 250,
	streamResendMaxMs: 5_000,
	/** A wire so slow is waited for before anything is sent again. */
	streamSlowBytesPerSecond: 250_000,
	/** Packets sent again at a time. */
	streamResendPackets: 64,
	nodeSyncWindowBytes: 262_144,
	/** One delta, so that several fit into the window. */
	nodeSyncDeltaBytes: 65_536,
	/** Deltas under way to one node, and pods of which a node says at a time that they are gone: their answers all fit into a mailbox. */
	nodeSyncDeltas: 64,
	podGonesUnderWay: 64,
	/** Pods whose status goes up in one message. */
	reportPods: 256,
	/** A node that got no answer to its hello says it again, doubling; that a pod is gone, as long as control has not taken note of it. */
	helloFirstMs: 1_000,
	helloMaxMs: 10_000,
	podGoneAgainMs: 5_000,
	/** What of a hello says which network objects the node has; the others are told anew. */
	helloNetworkCharacters: 524_288,
	/** What serves traffic did not take a change: all is told again after so long, doubling. */
	networkAgainFirstMs: 1_000,
	networkAgainMaxMs: 60_000,
	/** How long a program that sets up networks may take, and what it may write. */
	networkCallMs: 20_000,
	networkCallBytes: 16_777_216,
	/** How long a pod waits for its node to hear which addresses it may give, until its sandbox is tried again. */
	podSubnetWaitMs: 10_000,
	/** How often an agent looks whether the rules and routes for its pods are there. */
	podNetworkLookMs: 10_000,
	/**
	 * Endpoints of one UDP port whose flows are forgotten one by one; of more that go at once all flows to the port choose anew. The same of endpoints of all
	 * ports, and attempts at connections to Services.
	 */
	staleFlowCalls: 32,

	/** The main loop of an agent shows so often that it moves; when it has not for the longer time, its beat ends. */
	movementMs: 1_000,
	stillAgentMs: 10_000,
	/**
	 * A beat that is not answered for so long, and a moment by chance, has another connection dialled, which takes the place of the silent
	 * one; that is given up when nothing came for the longest time.
	 */
	beatAnswerMs: 1_000,
	beatSpreadMs: 250,
	beatSilenceMs: 6_000,
	/** When it is not answered for so long the node's other connections are asked. */
	beatDoubtMs: 3_500,
	/**
	 * Until the grace is over: how long an attempt lives that reaches no server, the time between two attempts, or until the host's own
	 * network is looked at again, how many attempts there are at a time, and the longest wait after one that was refused. Then it is as
	 * patient as others.
	 */
	beatConnectMs: 1_000,
	beatDialMs: 125,
	beatAwayMs: 25,
	beatDials: 8,
	beatReconnectMaxMs: 500,
	/**
	 * When the beat was not answered for a while, an agent's other connections have so long to answer; then they are made anew, and so
	 * often at most once more when that took too long, the first time a second, then doubling.
	 */
	controlAnswerMs: 2_000,
	bulkAnswerMs: 6_000,
	linkVerifications: 3,
	/** An agent of which nothing came for so long does not keep another from taking its place; one that is refused tries for longer. */
	agentAliveMs: 5_000,
	secondAgentMs: 10_000,
	/** An agent that was not answered for so long says that it is ready without the control plane. */
	agentReadyMs: 5_000,
	/** What is kept of one node's presences between two readings, the newest. */
	presencesPerReading: 16,
	/** How often an agent says that it lives, and how often what was heard of all of them is told to the detector. */
	beatMs: 500,
	signsMs: 250,
	/** A node without a beat for so long is suspect: it gets nothing new. */
	suspectAfterMs: 1_500,
	/**
	 * A node of which nothing at all was heard for so long is dead, and pods that name no toleration are replaced, unless the ClusterConfig
	 * says otherwise: at least and at most so long.
	 */
	nodeGraceMs: 5_000,
	nodeGraceLeastMs: 1_000,
	nodeGraceMostMs: 600_000,
	/** With a shorter grace than that beats, suspicion and what an observer may lag are shortened in proportion. */
	shortGraceMs: 2_500,
	/** An agent that said it restarts has so long to come back. */
	announcedRestartMs: 60_000,
	/** A control plane whose loop stood still for so long cannot tell who is silent. */
	observerLagMs: 500,
	/** The lease of an exclusive pod, counted by its node from when it sent the renewal; and how often it is renewed. */
	podLeaseTtlMs: 15_000,
	podLeaseRenewMs: 3_000,
	/** What the kill at a lease's end may take before control gives the pod to another. */
	podLeaseKillMs: 2_000,
	/** A watchdog of such a pod that was killed is replaced at once; one that lived for a shorter time than this, after it. */
	watchdogAgainMs: 100,
	/** Starts of an agent that are remembered, so that a late word of an earlier one means nothing. */
	agentBootsKept: 8,

	/** Publishes of the broker itself that may be outstanding. */
	brokerPublishWindow: 1_000,
	brokerPublishWindowBytes: 2_097_152,
	/** What waits beyond that window, the latest per retained topic; then the oldest is dropped. */
	brokerOutboxMessages: 10_000,
	brokerOutboxBytes: 16_777_216,
	/** Connections of the broker: it has so many and `newcomers` more in all, whether they have logged in or not. */
	brokerConnections: 4_096,
	/** What one may send until it has logged in; and its client id. */
	brokerLoginPacketBytes: 65_536,
	brokerClientIdBytes: 384,
	/** Connections of one login at a time, those of nodes aside. */
	brokerConnectionsPerLogin: 128,
	/** Filters one connection may hold, filters of one packet, levels of a topic, and its length. */
	brokerSubscriptions: 256,
	brokerPacketFilters: 512,
	brokerTopicLevels: 16,
	brokerTopicBytes: 1_024,
	/**
	 * Work that clients make, in units of about what a publish of QoS 0 costs (4 microseconds): that of one connection in one turn of the
	 * process, and how long all of them may take in one.
	 */
	brokerNodeTurnWork: 1_000,
	brokerToolTurnWork: 64,
	/** That of a login with a small rate of publishes. */
	brokerSlowTurnWork: 8,
	brokerNodeTurnMs: 8,
	brokerToolTurnMs: 2,
	/** The work of one login that is no node: in a second, at once after a rest, and what one demand may leave to be waited for. */
	brokerToolWorkPerSecond: 2_000,
	brokerToolWorkAtOnce: 20_000,
	brokerToolWorkDebt: 4_000,
	/** Publishes of one login to users' topics and to functions, in a second: unless its token says otherwise, and what that may say. */
	userMessagesPerSecond: 1_000,
	userMessagesLeast: 1,
	userMessagesMost: 20_000,
	userBytesPerSecond: 4_194_304,
	userBytesLeast: 16_384,
	userBytesMost: 268_435_456,
	/** A connection that has asked so long for more than its turns or its login's share, less the time in which it asked for nothing, is cut. */
	brokerGreedyMs: 10_000,
	/** One packet of a client that is no node. */
	brokerToolPacketBytes: 131_072,
	/** Retained messages that are not served from the index. */
	brokerRetainedTopics: 10_000,
	brokerRetainedBytes: 16_777_216,
	/** Those of one login, so that none takes the room of the others: a node retains its presence and nothing else. */
	brokerRetainedPerLogin: 64,
	brokerRetainedBytesPerLogin: 65_536,
	/** Retained messages are handed to a subscriber in slices, each when less than this waits for it. */
	brokerReplayBytes: 262_144,
	brokerReplayMessages: 200,
	/** What is written to a client's socket at once; the smaller, the sooner a slow reader shows progress. */
	brokerWriteBytes: 16_384,
	/** Kept sessions (`clean: false`), of all logins and of one. */
	brokerSessions: 256,
	brokerSessionsPerLogin: 16,
	/** What is queued for one while its client is away, with what it costs to keep: of one session, of one login, and of all. */
	brokerSessionMessages: 1_000,
	brokerSessionBytes: 4_194_304,
	brokerSessionBytesPerLogin: 8_388_608,
	brokerSessionBytesInAll: 67_108_864,
	/** QoS 2 messages of one client that wait for their release. */
	brokerInflightInbound: 1_000,
	/** A broker elsewhere (Mosquitto): what waits for one client (every object, for one that asks for all of them), what of it waits for its acknowledgement, the longest keep-alive. */
	outsideQueuedMessages: 200_000,
	outsideInflightMessages: 100,
	outsideKeepAliveSeconds: 3_600,
	/** First levels of topics of triggers that control hears there. */
	outsideTriggerLevels: 256,
	/** A sweep of a broker elsewhere asks so often whether it has read everything. */
	sweepAgainMs: 5_000,
	/** A system that lost the broker tries again so soon, doubling. */
	linkReconnectFirstMs: 100,
	linkReconnectMaxMs: 5_000,
	linkConnectMs: 5_000,
	/** Actor systems of users' own (`troupe actor run`): of one login, and in all. */
	userSystemsPerLogin: 32,
	userSystems: 512,
	/** A message of such a system, or a part of one: with the packet around it it has to fit into `brokerToolPacketBytes`. */
	userBodyBytes: 98_304,
	/** A message that goes in parts, and how many of them; and what waits for its last part, in all. */
	partedBodyBytes: 524_288,
	bodyParts: 64,
	partedBodiesBytes: 8_388_608,
	/** It says that it is there so often, and is gone when nothing was heard of it for so long. */
	userSystemPresenceMs: 5_000,
	userSystemSilentMs: 16_000,
	/** A run that wants the name of another waits so long for the last will of that one, or for its answer; then the name is its own. */
	userSystemClaimMs: 3_000,
	/** What a closing link gives the broker to take its goodbye. */
	linkCloseMs: 1_000,
	linkKeepAliveSeconds: 15,
	clientBufferBytes: 8_388_608,
	/** What waits for all MQTT clients together. */
	brokerBacklogBytes: 268_435_456,
	/** A client that takes nothing for so long while bytes wait for it is cut: a tool, and a node. */
	toolStallMs: 2_000,
	nodeStallMs: 30_000,

	/** Connections that have not logged in, at all doors together, and how long each may take to. */
	newcomers: 2_048,
	newcomerMs: 10_000,
	/** The first message of TLS: clients send one or two thousand bytes. */
	helloBytes: 32_768,
	/** Of the time of the process, handshakes have at most so many percent, and so much at a time. */
	handshakePercent: 50,
	handshakeTurnMs: 5,
	/** The HTTP doors: connections that have logged in, of all and of one login; requests that one may send ahead of its answers. */
	httpConnections: 2_000,
	httpConnectionsPerLogin: 500,
	httpRequestsAhead: 16,
	/** Patches of one Secret that are not answered; beyond that ERR_BUSY. */
	objectTurns: 100,
	/** Time for headers and for a whole request, idle time, and how long a reader may take nothing. */
	httpHeadersMs: 10_000,
	httpRequestMs: 30_000,
	httpKeepAliveMs: 65_000,
	httpCheckMs: 1_000,
	httpStallMs: 30_000,
	/** What a closing door gives to answers that run. */
	httpCloseMs: 1_000,
	tcpKeepAliveMs: 15_000,
	/** Entries of a list that asks for no pages are written in portions of so many. */
	listPortion: 200,
	watchBookmarkMs: 60_000,
	/** What a watch puts into one write. */
	watchWriteCharacters: 65_536,
	/** Notes sent as `Warning` headers: how many, and how long each. */
	warnings: 20,
	warningCharacters: 500,
	/** Records read from the store at a time. */
	storeReadRecords: 1_000,
	/** Logins of people and of nodes. They are one sealed record, which has to fit into `objectBytes`. */
	tokens: 4_000,
	/** What a token says of users' topics: filters to publish to, and as many to read; of one its characters, and of all tokens together. */
	tokenTopics: 32,
	tokenTopicCharacters: 256,
	tokenTopicsInAll: 131_072,
	/** Tokens of an older version, and what might be such, that are looked at in a second: each takes 0.1 ms. */
	slowHashesPerSecond: 1_000,
	/** A join token is good for so long when the command does not say; none for longer than the second. */
	joinTokenMs: 86_400_000,
	tokenTtlMaxMs: 315_576_000_000,
	/** While a token can expire the wall clock is looked at, at the latest, so often: it may be set. */
	tokenLookMs: 60_000,
	/** What an agent reads of a server's answer while it joins. */
	joinAnswerBytes: 65_536,
	/** Servers that an agent remembers: those that control names, then those of before. */
	serversKept: 16,
	/** What one request of an inspector may be: in bytes, of a place, and how many places or behaviours a filter names. */
	inspectRequestBytes: 65_536,
	inspectPlaceCharacters: 1_024,
	inspectFilterItems: 64,
	/** What it may ask for: actors in a list, entries of a stream, how long a stream, a pause or a fault lasts, how long an answer may take. */
	inspectListed: 10_000,
	inspectEntries: 100_000,
	inspectForMs: 600_000,
	/** The same where it does not say. */
	inspectUsualEntries: 1_000,
	inspectUsualMs: 60_000,
	inspectAskMs: 30_000,
	/** What one answer to it may be. */
	inspectAnswerBytes: 1_048_576,
	/** One message of an answer over MQTT. */
	inspectReplyBytes: 1_310_720,
	/** What a list of the trees of all systems may be. */
	inspectListBytes: 33_554_432,
	/** Questions under way at the inspector of one system. */
	inspectAsks: 256,
	/** Those of logins that are no admin's, so that there is room for an admin's. */
	inspectOthersAsks: 192,
	/** Of one login: requests in a second, so many at once after a rest, questions under way, and streams. */
	inspectsPerSecond: 50,
	inspectsAtOnce: 200,
	inspectsOpen: 32,
	inspectStreams: 16,
	/** Traces of one login; and traces and streams of all logins together that are no admin's, so that there is room for an admin's. */
	inspectTraces: 2,
	inspectOthersTraces: 6,
	inspectOthersStreams: 24,
	/** Refusals of more than that are told so often in a second. */
	inspectRefusalsPerSecond: 10,
	/** Systems asked at a time when all of them are asked, how long each may take, and how long all of them together. */
	inspectSystems: 32,
	inspectSystemMs: 2_000,
	inspectAllMs: 10_000,
	/** A system that does not answer has one question for so long. */
	inspectProbeMs: 30_000,
	/** How long one may take that a fault has cut off: only where its process began anew does it answer. */
	inspectCutMs: 500,
	/** A stream is asked of a system again and again, each time for so long and so many entries; what came is handed on this often. */
	inspectReadMs: 5_000,
	inspectReadEntries: 200,
	inspectFlushMs: 50,
	/** How often a trace asks systems that went or are new. */
	inspectJoinMs: 2_000,
	/** Ids of requests that are remembered of one login, so that none is carried out twice; and the characters of one. */
	inspectIds: 256,
	inspectIdCharacters: 128,
	/** Of changes that are refused to a login the first and the last in so long have an entry in the audit log, with the number of the others. */
	auditRefusalMs: 1_000,
	/** There, of the place and of each type such a change names: so many bytes in the line. */
	auditRefusedTextBytes: 128,
	/** The audit log: when a file is so large, it becomes `audit.log.1`, and that of before `audit.log.2`; of `audit-refused.log` alike. */
	auditFileBytes: 10_485_760,
	/** A stream of an inspector that nobody reads for so long ends, and with it what was on for it. */
	inspectUnreadMs: 15_000,
	/** What is shown of one value: bytes, levels at the most and where nobody says, members of one object, characters of one text. */
	shownBytes: 131_072,
	shownDepth: 24,
	shownUsualDepth: 8,
	shownMembers: 500,
	shownTextCharacters: 2_000,
	/** Of a message in a list or a trace. */
	shownMessageBytes: 4_096,
	shownMessageDepth: 6,
	/** Actors of a tree that is looked at, all levels together; and of one crowd of children, and levels, where nobody says. */
	lookActors: 1_000,
	lookChildren: 50,
	lookDepth: 3,
	/** Items of one list of what an actor has: messages, watchers, questions, timers. */
	lookItems: 100,
	/** Actors that `top` tells where nobody says, and at the most. */
	topActors: 20,
	topMostActors: 200,
	/** How long messages are counted for their rate. */
	topRateMs: 1_000,
	/** How long the memory of actors is estimated, and at how many values of one state. */
	topMemoryMs: 1_000,
	memoryValues: 2_000,
	/** How long looks into a system take before others have their turn, and how many are under way. */
	lookSliceMs: 4,
	looks: 64,
	/** The newest dead letters of each system. */
	deadLettersKept: 200,
	/** Traces that are on in a system at a time, and that may follow one step. */
	traces: 8,
	/** So many steps away from one that a trace asked for is what follows from it traced. */
	traceHops: 32,
	/** Steps that one trace tells in a second, and at once after a rest; each with a record counts for several. */
	traceStepsPerSecond: 200,
	traceStepsAtOnce: 1_000,
	traceStepsOfRecord: 4,
	/** What a step asked for: lines of one entry. */
	traceEffects: 20,
	/** Streams of one system at a time. */
	systemStreams: 32,
	/** What waits in a stream: of a trace entries and their bytes, of a watch states, the oldest of which make room. */
	streamEntries: 2_000,
	streamEntriesBytes: 4_194_304,
	streamStates: 50,
	/** What one portion of a stream may be; an entry that is larger goes alone. How long a portion is gathered, and waited for at the most. */
	streamPortionBytes: 262_144,
	streamGatherMs: 50,
	streamReadMs: 30_000,
	/** One recorded step, and the state of an actor that is recorded: one with more cannot be replayed, and says so. */
	recordBytes: 262_144,
	/** How deep a recorded value may nest. */
	recordDepth: 100,
	/** How long a fault lasts that nobody gave a time, and at the most. */
	faultMs: 10_000,
	faultMostMs: 600_000,
	/** By how much a fault may put off each step of an actor. */
	faultSlowMs: 60_000,
	/** Faults that are on in a system at a time. */
	faults: 100,
	/** A system is cut off so long after that was asked of it, so that its answer gets out. */
	partitionDelayMs: 250,
	/** States of actors that a recording remembers, to write only what changes; without the oldest it writes the next one whole. */
	recordedStatesBytes: 16_777_216,
	/** A file of recorded steps, as `replay` reads it. */
	recordFileBytes: 268_435_456,
	/** How often a server looks whether its certificate is to be renewed, a month before it ends. */
	certificateLookMs: 86_400_000,
	/** How often a standby looks whether the store has the authority it needs to open its doors. */
	authorityPollMs: 250,

	/** One chunk of a log that crosses the bus. */
	logChunkBytes: 131_072,
	/** Reached, a log is rotated at the next look at it: the one before is kept, beside what was written since. */
	logFileBytes: 10_485_760,
	/** What of a log is looked through for where a line begins, and what is shown of one with holes: more than two such files. */
	logScanBytes: 33_554_432,
	/** How often a log that is being written is looked at: how fine its times are, and how soon it is rotated. */
	logLookMs: 100,
	/** How long the end of a container of Docker waits for its last lines to be copied before it is told; and how long the Engine keeps them after that. */
	logDrainMs: 200,
	logRestMs: 10_000,
	/** How long a Docker Engine may take to begin a stream: a log, a program of exec, an input. */
	engineStreamMs: 10_000,
	/** Times kept of one log; when there are more, every other one of the older half goes. */
	logMarks: 16_384,
	/** What the record of a container that failed keeps of its log. */
	lastLines: 20,
	lastLinesBytes: 2_048,
	/** How long a reader that follows a log waits at the node before it asks again. */
	logFollowMs: 25_000,
	/** The same where the kernel does not tell of writing (no inotify watches left). */
	logCheckMs: 5_000,
	/** Reads of logs under way at one node, and those among them that wait for more to be written. */
	logReaders: 256,
	logFollowers: 256,

	/** How often a node samples what it and its containers use; one that is simulated for how long after it was asked last. */
	usageSampleMs: 5_000,
	usageKeptMs: 600_000,
	/** How long it keeps what they told, in how many figures at most; in how many steps it tells that, in how many values, and of how many containers. */
	usageHistoryMs: 900_000,
	usageHistoryFigures: 400_000,
	usageHistorySteps: 60,
	usageHistoryAnswer: 20_000,
	usageHistoryContainers: 2_000,
	/** What is used of a processor is told on the average of so long where that is known, and of no less than the second; a new pair of samples is so far apart. */
	usageWindowMs: 5_000,
	usageLeastWindowMs: 1_000,
	usagePairMs: 1_200,
	/** How long a node that was short of something is told as that, and how long an eviction may take before there is another one. */
	pressureHoldMs: 60_000,
	evictionWaitMs: 60_000,
	/** How long the scheduler goes by what a node has said of its use. */
	nodeUseMs: 30_000,
	/** Containers of a node that are measured, and how long in one turn before everything else has its own. */
	usageContainers: 4_096,
	usageTurnMs: 4,
	/** A file of the kernel that tells what is used, and the processes of one container that are looked at one by one. */
	usageFileBytes: 262_144,
	usageProcesses: 256,
	/** Processes of a host without control groups that are looked at to find those of its containers. */
	usageHostProcesses: 16_384,
	/** Questions for it under way at one node. */
	usageReaders: 64,
	/** How long a server waits for a node to tell it. */
	usageAnswerMs: 5_000,
	/** Nodes and functions that have series of their own among the metrics; all further ones are told as one. */
	metricsNodes: 250,
	metricsFunctions: 100,
	/** Objects, or actors, that are counted in one turn. */
	metricsTurnObjects: 2_000,
	/** For what a node tells of itself to a scrape. */
	metricsAnswerMs: 2_000,
	/** Targets that discovery by HTTP tells of a sort; labels of a pod among them, and the longest path of one. */
	metricsTargets: 2_000,
	metricsTargetLabels: 16,
	metricsTargetPathCharacters: 256,
	/** What nodes and pods use is published as often while somebody listens, of as many pods at a time. */
	usageTopicsMs: 5_000,
	usageTopicPods: 2_000,
	/** Connections to an agent's own door for scrapers. */
	metricsConnections: 16,
	/** A server that does not lead looks no more often which logins there are. */
	standbyLoginsMs: 10_000,

	/** How often an autoscaler looks at its pods, and no more often than the second, whoever writes meanwhile. */
	autoscaleSyncMs: 5_000,
	autoscaleLeastMs: 1_000,
	/** So long autoscalers of which a value has come by MQTT are gathered, so that one message tells of all of them. */
	autoscaleNewsMs: 20,
	/** Autoscalers that begin to measure in one turn. */
	autoscaleAtOnce: 64,
	/** Figures alone are written no more often. */
	autoscaleFiguresMs: 15_000,
	/** Decisions that changed something, as its status keeps them. */
	autoscaleDecisions: 10,
	/** So long after its start what a pod uses of processors counts only from when it is ready on; and so early its readiness is its first. As in Kubernetes. */
	autoscaleCpuInitialMs: 300_000,
	autoscaleReadyInitialMs: 30_000,
	/** Metrics of one autoscaler. */
	autoscaleMetrics: 16,
	/** Topics that are listened to for all autoscalers, one of Pods counting once; what is read of one of them for some; and values that are kept. */
	autoscaleTopics: 4_096,
	autoscaleTopicReaders: 64,
	autoscaleValues: 100_000,
	/** How much of a message is looked into, how deep and long the path in it may be, and the largest number. */
	autoscaleMessageBytes: 16_384,
	autoscalePathLevels: 8,
	autoscalePathCharacters: 256,
	autoscaleMostValue: 1_000_000_000_000_000,
	/** How long after it came a message counts where nothing else is said, and at most. */
	autoscaleExpireSecondsDefault: 60,
	autoscaleExpireSeconds: 86_400,
	/** Hosts of Prometheus that the ClusterConfig lists; the characters of a URL of one, and of a query. */
	prometheusHosts: 100,
	prometheusUrlCharacters: 2_048,
	prometheusQueryCharacters: 4_096,
	/** What a Prometheus may take to answer, the turn of the query included, and how large the answer may be. */
	prometheusAnswerMs: 4_000,
	prometheusAnswerBytes: 262_144,
	/** An answer is that of all autoscalers that ask the same within so long. */
	prometheusShareMs: 4_000,
	/** Queries of one host at once, those of it that are asked or wait, and those of all hosts; beyond that one is not asked. */
	prometheusAtOnce: 8,
	prometheusQueries: 512,
	prometheusQueriesInAll: 4_096,

	/** Sessions of exec and attach at one gateway. */
	remoteSessions: 256,
	/** Connections of port-forward at one gateway, those that wait for room on their way out being held in memory. */
	forwardConnections: 1_024,
	/** A client that opens one half of a forwarded connection has so long for the other. */
	forwardPairMs: 30_000,
	/** A pod that takes nothing for so long, while others of the same tunnel wait behind it: its connection is ended. */
	forwardStallMs: 30_000,
	/** Of one tunnel: its streams, two a connection, what one of its control frames may hold, also decompressed, and answers that are not taken. */
	spdyStreams: 256,
	spdyControlBytes: 4_096,
	spdyHeaderBytes: 16_384,
	spdyAnswerBytes: 65_536,
	/** Questions of sessions under way at one node, and how many of them may be when a new session begins. */
	execAsks: 1_024,
	execAsksToOpen: 768,
	/** One message of a client, and one piece of a session's output that crosses the bus. */
	execMessageBytes: 1_048_576,
	execChunkBytes: 131_072,
	/** Input that waits for a program; beyond it the client is not read. */
	execInputBytes: 524_288,
	/** How long one look at a session's output waits at the node. */
	execReadMs: 5_000,
	/** While a client takes no output, or is not read, so often it and the node hear that the session lives. */
	execAliveMs: 5_000,
	/** A program that takes nothing of its input for so long gets no more of it. */
	execInputStallMs: 3_600_000,
	/** One message between an agent and its data plane, and what of it a portion of network objects is before the next one begins. */
	feedFrameBytes: 8_388_608,
	feedPortionBytes: 262_144,
	/** Services, slices, names, routes and nodes that a data plane takes. */
	networkObjects: 100_000,
	/** Agents that are connected to one data plane. */
	feedConnections: 4,
	/** How long a data plane may take to answer where it is greeted, to start, and to hand over to another one. */
	feedAnswerMs: 5_000,
	dataPlaneStartMs: 20_000,
	handOverMs: 30_000,
	/** It is asked so often whether it lives; after so many questions without an answer it is replaced. */
	feedPingMs: 1_000,
	feedPings: 10,
	/** One that ended is started again after so long, doubling; one that served for the longest time begins anew with that. */
	dataPlaneBackoffFirstMs: 100,
	dataPlaneBackoffMaxMs: 60_000,
	dataPlaneWellMs: 60_000,
	/** Connections of one data plane, of all its listeners and of one; its listeners. */
	dataPlaneConnections: 20_000,
	listenerConnections: 10_000,
	dataPlaneListeners: 20_000,
	/** How long a data plane that has handed over lets its connections finish. */
	dataPlaneDrainMs: 600_000,
	/** How long a socket that was handed over waits for the one who listens on it; datagrams that it keeps until then. */
	inheritedSocketMs: 10_000,
	inheritedDatagrams: 256,
	/** How often a data plane looks whether it is still the one that its home names. */
	dataPlaneLookMs: 10_000,
	/** What is kept of what it has said beside its log, and how many of its problems are told. */
	dataPlaneLogBytes: 1_048_576,
	networkProblems: 50,
	/** What the CLI sends in one message, and output that waits to be taken before it reads no more. */
	execInputChunkBytes: 32_768,
	execOutputBytes: 1_048_576,
	/** Between a terminal's last word and the goodbye, so that a change of its size does not cross it. */
	execTerminalCloseMs: 50,

	/** The environment of a container, and its command line, as they are after expansion: Linux takes no more (E2BIG). */
	environmentCharacters: 2_097_152,
	/** Servers, domains to look in, and options of a pod's resolv.conf; of the domains also the characters of all, with spaces. As in Kubernetes. */
	podNameservers: 3,
	podSearches: 32,
	podSearchCharacters: 2_048,
	podDnsOptions: 32,
	/** How long an answer about the cluster's own names is good for. */
	dnsTtlSeconds: 5,
	/** Records of one answer about a Service; the rest is left out. */
	dnsAnswers: 500,
	/** An answer in one datagram, to who can take that much; the rest goes by TCP (DNS flag day 2020). */
	dnsDatagramBytes: 1_232,
	/** A question over TCP. */
	dnsQuestionBytes: 4_096,
	/** A connection over which nothing is asked, or no answer is taken. */
	dnsIdleMs: 10_000,
	/** Questions that wait for other resolvers. */
	dnsPending: 500,
	/** How long one of these has for its answer. */
	dnsUpstreamMs: 2_000,
	/** Resolvers of the host that are asked in turn; as in resolv.conf(5). */
	dnsUpstreams: 3,
	/** How often the host's resolv.conf is looked at, at most. */
	dnsUpstreamLookMs: 5_000,
	/** Answers of other resolvers that are kept, together with the bytes of all. */
	dnsCacheEntries: 5_000,
	dnsCacheBytes: 4_194_304,
	/** For how long, whatever they say; and what is not there. */
	dnsCacheSeconds: 300,
	dnsNegativeSeconds: 30,
	/** Answers about the cluster's own names that are kept as they went out, until something of the network changes. */
	dnsKeptAnswers: 4_096,
	/** The longest of these, with its question. */
	dnsKeptBytes: 512,
	/** The pause between attempts to listen on a port that another program has. */
	dnsPortMs: 5_000,
	/** Services of its namespace, the first by name, of which a container gets variables. */
	serviceVariables: 250,
	/** What a node takes when its agent is not told. */
	podsPerNode: 110,
	/** Nodes of one cluster that only pretend. */
	simulatedNodes: 10_000,
	/** Folders for sandboxes, containers and attempts that are kept ready, and how many are made at once when none is left. */
	stockFolders: 128,
	stockBatch: 16,
	/** The same of pipes for programs that are run beside those of containers. */
	stockPipes: 16,
	/** The stock is filled up when nothing was taken for so long. */
	restockMs: 250,
	/** How many attempts of a container keep their files: the current one and the one before. */
	attemptsKept: 2,
	/** Users that a node gives to pods when its operator says no range, and the most there may be in one: each controller has one. */
	podUsers: 65_536,
	/** Lines that the record of them may have beyond twice their number before it is written anew; a longer name is kept as a hash. */
	podUserLines: 1_024,
	podUserKeyCharacters: 512,
	/** What is read of each file that says which users the host has. */
	hostUsersBytes: 1_048_576,
	/** Groups of a pod's programs beside their own; and the file that says how an attempt began and ended, which names them. */
	containerGroups: 1_000,
	stateFileBytes: 32_768,
	/** How far up the controllers of a pod are followed. */
	controllerChain: 8,
	/** Processes that were killed by their control group: how long an end waits for theirs, and how often it looks. */
	groupEndMs: 2_000,
	groupLookMs: 5,
	/** Processes and threads of one container, unless the operator of its node says otherwise. */
	containerProcesses: 1_024,
	/** What the operator may say. */
	leastProcesses: 16,
	mostProcesses: 1_000_000,
	/** Of the processes that a host can have, what all containers of an agent may have together. */
	processesSharePercent: 75,
	/** Empty control groups of other agents are swept away when they are so old. */
	groupKeptMs: 3_600_000,

	/** Probes and hooks under way at one node: those that talk over the network, and those that run a program. */
	networkActions: 512,
	execActions: 64,
	/** What is kept of the output of a program that was run as one, and read of the body of an HTTP answer (as the kubelet does). */
	actionOutputBytes: 1_024,
	actionBodyBytes: 10_240,
	/** Redirects of an HTTP probe. */
	actionRedirects: 10,
	/** Programs beside one container's own that were killed and have not ended: then no further one begins. Of each so many processes are looked at. */
	killedPrograms: 16,
	killedProcesses: 8,
	/** How often a program that was only just spawned is looked at until it has begun, and how long: what it runs in is read then. */
	beginLookMs: 5,
	beginMs: 2_000,

	/** Pulls of images that an Engine has under way for us, and those that wait for their turn. */
	imagePulls: 4,
	imagePullsWaiting: 1_000,
	/** A pull of which nothing is heard for so long is ended. */
	imageStallMs: 120_000,
	/** One image for a start: its pull, and its wait for the pulls before it. */
	imageEnsureMs: 7_200_000,
	/** How often it is told how far a pull is. */
	imageNewsMs: 1_000,
	/** Layers of one pull that are counted, and a line of what the Engine streams meanwhile. */
	imageLayers: 1_000,
	engineLineCharacters: 65_536,
	/** What is told of a registry's refusal. */
	imageWordsCharacters: 1_000,
	/** A question to the Engine about images. */
	imageLookMs: 30_000,
	/** Images that came by an agent are removed when the disk of its Engine is fuller than this, until it is no fuller than that. */
	imageDiskHighPercent: 85,
	imageDiskLowPercent: 80,
	/** How often the disk is looked at, and how long an image is kept after its last use, as in Kubernetes. */
	imageGarbageMs: 300_000,
	imageKeptMs: 120_000,
	imageRemoveMs: 120_000,
	/** Images of which an agent knows that they came by it. */
	imagesRemembered: 10_000,
	/** Nodes that one command brings images to at a time. */
	imageNodes: 8,
	/** How long a node may take to list its images, or to begin with one, on top of `askDeadlineMs`: together less than a client waits. */
	imageAskMs: 15_000,
	/** Images that are brought to one node by people at a time: pulls, archives, builds. */
	imageSessions: 8,
	/** One of them, from its first byte to its end. */
	imageSessionMs: 7_200_000,
	/** How often it is looked at whether it goes on, and how long its client may send nothing. */
	imageSessionLookMs: 5_000,
	imageInputStallMs: 30_000,
	/** An archive that is loaded, and the folder that an image is built from: as much as comes in of it. */
	imageArchiveBytes: 137_438_953_472,
	buildContextBytes: 4_294_967_296,
	/** Lines of a build that failed that are told, and what is kept of what it says. */
	buildLines: 20,
	buildTailCharacters: 8_192,
	/** Names of images in one archive that are told. */
	imagesLoaded: 1_000,
	/** Images that are listed of a node, and names of each. */
	imagesListed: 2_000,
	imageNames: 50,
	/** Logins of a pod's imagePullSecrets that are tried for one image, and the place that each is for. */
	pullCredentials: 16,
	registryPlaceCharacters: 512,

	/** Sessions of exec at one node. */
	execSessions: 64,
	/** Connections of port-forward at one node, and how long one may take to be made: less than a client waits. */
	forwardSessions: 256,
	forwardConnectMs: 5_000,
	/** Connections at one node that are relayed for one other node, and of all. */
	relayPerNode: 256,
	relaySessions: 512,
	/** Bytes of a relayed connection in one message, and in one direction those that the reader has not taken yet. */
	relayChunkBytes: 65_536,
	relayWindowBytes: 262_144,
	/** Messages of relayed connections that are under way to one node or from it, and characters of their bytes; the others wait. */
	relayUnderWay: 32,
	relayUnderWayBytes: 350_000,
	/** Messages of one node that wait at control to be passed on, and at a node for its connections to take them: a further one is refused. */
	relayAsks: 128,
	relayTaking: 256,
	/** A message that is not answered in so long has ended its connection. */
	relayAnswerMs: 20_000,
	/** Each end asks the other so often whether the connection is there; after so many questions without an answer it is not. */
	relayKeepMs: 10_000,
	relayKeeps: 2,
	/** What a data plane says of the connection that it wants, and how long it may take to say it. */
	relayHeadBytes: 4_096,
	relayHeadMs: 5_000,
	/** Where a pod was found to listen it is taken to listen for so long. */
	forwardLookMs: 1_000,
	/** What `troupe net check` has a node try at once, how long one of these may take, and all with the start of the program that tries. */
	wayTries: 8,
	wayTryMs: 2_000,
	wayCheckMs: 15_000,
	/** Such programs at one node, and what one may say; a longer page of a router is not read. */
	wayChecks: 4,
	wayAnswerBytes: 65_536,
	/** A path that the router is asked for. */
	wayPathCharacters: 1_024,
	/** Endpoints of a Service to which a connection is tried, and reasons that are told of those that are left out. */
	wayEndpoints: 5,
	/** A session that its client does not read for so long is ended. */
	execIdleMs: 60_000,
	/** So long an exec waits for an Engine that is not there, and for its node by so much more than `askDeadlineMs`: that can say then what is wrong. */
	execOpenWaitMs: 5_000,
	/** Output of one session that waits to be read; beyond it the program waits. */
	execBufferBytes: 262_144,
	/** Input of one session that waits at the node for its program to take it. */
	execPendingBytes: 2_097_152,
	/** What a program that is over has written is waited for so long, should something that it left behind hold its output open. */
	execDrainMs: 500,
	/** A program of exec whose Engine does not answer is tried to be killed for so long. */
	execKillMs: 60_000,
	/** An Engine that has ended the output of a program of exec has so long to tell how it ended; after a probe's time, whether it runs still. */
	execEndMs: 5_000,
	execLookMs: 500,
	/** What programs may write into the folders of a private root that are no volumes and not the node's own. */
	privateRootBytes: 67_108_864,
	/** Entries of the node's folders in which a private root puts mount points, and the table that names them: Linux takes longer words not. */
	privateRootEntries: 2_000,
	mountTableBytes: 120_000,
	/** A path of a mount or of what is mounted: Linux takes no longer one, and no program needs a deeper one. And how many mounts a container may have. */
	pathBytes: 4_095,
	pathNames: 256,
	containerMounts: 256,
	/** Folders of a PATH in which a program is looked for. */
	searchFolders: 256,
	/** A volume of class local is counted so soon after its first pod came, and then again and again. */
	volumeCountFirstMs: 10_000,
	volumeCountEachMs: 300_000,
	/** The pause after a count is at least so many times as long as it took. */
	volumeCountPause: 20,
	/** A count that takes longer is given up. It has so much memory; and so many may have been killed without ending. */
	volumeCountMs: 600_000,
	volumeCountBytes: 268_435_456,
	volumeCounts: 4,
	/** How long a container waits for a server of NFS when it starts. */
	nfsMountMs: 30_000,
	/** What a node's volumes of Secrets hold, in memory. */
	secretVolumesBytes: 268_435_456,
	/** Input of one container that waits for its program. */
	stdinBytes: 1_048_576,
	/** GPUs of one node. */
	nodeGpus: 64,
	/** What is asked of nvidia-smi, and what it may say: it is asked no more often than every `gpuLookEveryMs`. */
	gpuLookMs: 15_000,
	gpuLookBytes: 1_048_576,
	gpuLookEveryMs: 60_000,
	/** The file in which a node keeps which pod has which of its GPUs: a longer one is damaged. */
	gpuRecordBytes: 1_048_576,
	/** Pods that are over and still there, of which that file says so: of more than these it forgets the first. */
	gpuSpentPods: 8_192,
	/** How long the helpers that a runtime tries once at its start may take. */
	probeMs: 5_000,

	/** What an Engine answers at most, streams aside: the list of some 10,000 containers. */
	engineAnswerBytes: 33_554_432,
	/**
	 * A Docker Engine: how long one answer may take, and a container's start; how soon a silent one is asked whether it still answers; one that is gone is
	 * looked for so soon, doubling.
	 */
	engineAnswerMs: 10_000,
	engineStartMs: 120_000,
	enginePingMs: 5_000,
	engineAgainFirstMs: 100,
	engineAgainMaxMs: 1_000,
	/** What is asked of a node whose Engine does not answer waits so long for it. */
	engineWaitMs: 20_000,
	/** Containers that are made and started at a time: with more of them each takes the longer. */
	engineStarts: 8,
	/** The least memory to which an Engine limits a container. */
	engineMemoryLimitBytes: 6_291_456,
	/** A container that was killed and has not ended after so long is looked at anew. */
	engineEndMs: 30_000,
	/** What tells that a container was killed for want of memory may come so long after its end. */
	engineOomMs: 300,
	/** One event that an Engine tells, with all labels of its container. */
	engineEventCharacters: 1_048_576,
	/** Sandboxes that are made before pods ask for them, where nobody says how many; and the most of them: each has an address and a process. */
	warmSandboxes: 4,
	warmSandboxesMost: 64,
	/** Of each of its files of names, which the image of a runner that waits there could write: with a longer one it is not used. */
	warmNamesBytes: 65_536,
	/** One is made when no pod was being started for so long. */
	warmQuietMs: 250,
	/** After a failure the next one is tried so late, doubling; an agent that ends waits so long for those that it has. */
	warmAgainFirstMs: 1_000,
	warmAgainMaxMs: 300_000,
	warmCloseMs: 5_000,
	/** Images whose users are remembered, and what is read of each list of them. */
	imageUsersKept: 256,
	imageUsersBytes: 1_048_576,
	/** Of what an Engine says when it refuses something. */
	engineWordsCharacters: 1_000,

	/** How long the CLI waits for an answer of the API, its watches and log streams aside. */
	requestTimeoutMs: 30_000,
	/** Containers whose logs one command shows at a time, when no flag says. */
	logRequests: 20,
	/** A log that is followed and was cut off is asked for again so soon, doubling. */
	logAgainFirstMs: 200,
	logAgainMaxMs: 5_000,
	/** When no server answers for so long, following ends. */
	logGiveUpMs: 300_000,
	/** A line of several logs that are shown together; a longer one is shown in parts. */
	logLineBytes: 1_048_576,
	/** An archive of a folder (system/archive): its entries, and how deep they may be. */
	archiveEntries: 10_000,
	archiveDepth: 64,
	/** The path of one entry, from the top of the folder. */
	archivePathCharacters: 1_024,
	/** The archive as a tar, with its headers, and one file in it. */
	archiveBytes: 268_435_456,
	archiveFileBytes: 134_217_728,
	/** The archive as it is sent and kept, compressed. */
	archivePackedBytes: 67_108_864,
	/** How many times as large it may get, once it is beyond the second. */
	archiveRatio: 200,
	archiveRatioFromBytes: 1_048_576,
	/** A name in an archive that a pod sends, and what describes an entry of it. */
	archiveNameBytes: 65_536,
	/** Connections of one command to its cluster. */
	clientConnections: 8,
	/** What the CLI reads of one manifest file, and of how many files at once. */
	manifestBytes: 8_388_608,
	manifestFiles: 2_000,
	/** A compose file: its services, the ports of one, and all its texts with their variables, or what files of variables say. */
	composeServices: 500,
	composePorts: 1_000,
	composeCharacters: 8_388_608,
	/** A pipe that is named as a file may be silent for so long. */
	manifestSilenceMs: 60_000,
	/** Words, signs and line ends of one YAML text: what is large by being in small pieces costs far more than its bytes. */
	yamlTokens: 500_000,
	/** The same of one body that comes to the API: no other client is served while it is read. */
	bodyYamlTokens: 200_000,
	/** Uses of YAML aliases in one document: beyond it the document is a bomb. */
	manifestAliases: 100,
	/** Among how many names the CLI looks for the one that was meant, and how many of them it shows. */
	nearNames: 500,
	nearNamesShown: 3,
	/** How often the CLI, or the server for a patch, reads an object again that another writer changed under its hands. */
	changeTries: 5,
	/** How many changes the difference of two texts is searched for; beyond it all is shown from the first line that differs to the last. */
	diffChanges: 2_000,
	/** How often `edit` opens the editor again on what the cluster refuses. */
	editTries: 50,
	/** How long `delete` and `scale --wait` wait when no flag says. */
	waitMs: 300_000,
	/** How long a cluster may take to be ready in the background, or to stop. */
	startDeadlineMs: 60_000,
	stopDeadlineMs: 60_000,
	/** How often `down` looks whether the process is gone: it is not our child, so nothing tells. */
	exitPollMs: 20,

	/** What completion waits for names of a cluster, and how many candidates it hands to a shell. */
	completeMs: 1_000,
	completions: 1_000,
	/** A live table is drawn at most so often, and shows a deleted object for so long. */
	liveFrameMs: 50,
	liveDeletedMs: 4_000,
	/** How long `wait` waits when no flag says, as kubectl does. */
	waitForMs: 30_000,
	/** Evictions that `drain` has under way at a time; one that was not taken for now is asked for again. */
	evictionsUnderWay: 6,
	evictionAgainMs: 1_000,
	/** One that a disruption budget refused is asked for again when the budget allows it, and at the latest after so long, as kubectl does. */
	budgetAgainMs: 5_000,
	/** Work that takes longer shows how far it is, and how often that is drawn. */
	progressAfterMs: 300,
	progressFrameMs: 100,

	/** What an inspector's shell asks for at a time: levels, children of one actor, those of one that is looked at by itself, and of all. */
	inspectDepth: 16,
	inspectChildren: 64,
	inspectNames: 1_000,
	inspectAllChildren: 10_000,
	/** Siblings that rest and have something to say are shown so far; of more only the first few. */
	inspectCrowd: 8,
	inspectCrowdShown: 5,
	/** What is shown again and again is asked for so often; the rate of a first look is taken over so long, that of a later one by one not longer ago. */
	inspectEachMs: 1_000,
	inspectRateWaitMs: 300,
	inspectRateMs: 60_000,
	/** So long an actor that is being restarted is waited for before it is killed or restarted again. */
	inspectRestartMs: 5_000,
	/** Places of which a shell remembers its last look, states that it keeps by name, differences that it shows of two. */
	inspectPlacesCounted: 32,
	inspectMarks: 32,
	inspectDifferences: 200,
	/** How long a step of a trace waits for the one that caused it before it is told without. */
	inspectTracePatienceMs: 500,
	/** How long a shell believes that it knows the names of all systems; and lines that it remembers. */
	inspectSystemsMs: 5_000,
	inspectHistory: 1_000,
	/** What it waits for its first connection. */
	inspectConnectMs: 10_000,
	/** What it waits for an answer beyond what was asked for, and how often it says that a stream is still wanted. */
	inspectPatienceMs: 15_000,
	inspectRenewMs: 5_000,
	/** A line of a script; a longer one is none. */
	inspectLineCharacters: 1_048_576,

	/** A Docker Engine takes the image of infra containers, a file of a few hundred bytes. */
	engineImportMs: 60_000,
	/** How long a start waits to hear whether a Docker Engine is there: longer than one that is well takes, and not long. */
	engineProbeMs: 5_000,

	/** A container of Docker that was started gets to its gate; and how often that is looked at. */
	gateMs: 10_000,
	gateLookMs: 1,
	/** FIFOs for gates that are made at once. */
	gateFifos: 16,

	/** What waits in a node's proxy for readers that do not take it, of all connections: beyond it the one that has stood still longest is ended. */
	proxyHeldBytes: 67_108_864,
	/** So long an endpoint has to take a connection before the next one is tried; and all that are tried for one client. */
	proxyConnectMs: 2_000,
	proxyReachMs: 10_000,
	/** A connection to an endpoint that is there no more is ended when nothing has moved for so long. */
	proxyGoneMs: 1_000,
	/** A silent connection to or through it is tried after so long. */
	proxyKeepAliveMs: 60_000,
	/** Flows of UDP through it: beyond them the one that was used least recently ends. */
	proxyFlows: 4_096,
	/** One ends when nothing has come for so long. */
	proxyFlowIdleMs: 60_000,
	/** Datagrams of one flow that wait for its socket: more are lost. */
	proxyFlowPackets: 16,
	/** Clients of which it is known where they stay (sessionAffinity), of all Services: beyond them the one that came least recently is forgotten. */
	proxyAffinityClients: 65_536,
	/** A place where it could not listen is tried again after so long, doubling. */
	proxyListenFirstMs: 1_000,
	proxyListenMaxMs: 30_000,

	/** Endpoints of one EndpointSlice that control makes, as in Kubernetes. */
	sliceEndpoints: 100,

	/** A definition in the States Language, serialised: a ControllerRevision with it is no larger than `objectBytes`. */
	statesDefinitionBytes: 1_000_000,
	/** States of one, those of machines in it included. */
	statesDefinitionStates: 2_000,
	/** Machines in machines: Parallel and Map. */
	statesNesting: 10,
	/** Rules of a Choice in rules: And, Or, Not. */
	statesRuleDepth: 16,
	/** The name of a state, as the language has it. */
	statesNameCharacters: 80,
	/** A path; filters in filters of it; an intrinsic, and those in it; a pattern of StringMatches. */
	statesPathCharacters: 1_024,
	statesFilterDepth: 8,
	statesIntrinsicCharacters: 10_000,
	statesIntrinsicDepth: 10,
	statesPatternCharacters: 256,
	/** Values that the paths and intrinsics of one step of a run look at. */
	statesStepValues: 200_000,
	/** The input, the result and the output of a state as JSON, and how deep they nest: in the object of a run it stays below `objectDepth`. */
	statesDataBytes: 262_144,
	statesDataDepth: 60,
	/** What States.Base64Encode, Base64Decode and Hash take; what States.ArrayRange makes. */
	statesHashedCharacters: 10_000,
	statesRangeItems: 1_000,
	/** Items of one Map, and those of them that are under way at once. */
	statesMapItems: 10_000,
	statesMapConcurrency: 1_000,
	/** Branches or items that one step begins; where a template makes their inputs. */
	statesMapPortion: 40,
	statesMapMadePortion: 10,
	/** Of an error that is kept: its name and its cause. */
	statesErrorCharacters: 256,
	statesCauseCharacters: 32_768,
	/** States that one machine of a run enters: a loop has an end. */
	statesTransitions: 25_000,
	/** What a Wait or a pause before another try lasts at most, a year and a day; and a task or a run that says how long. */
	statesWaitSeconds: 31_622_400,
	statesTaskSeconds: 99_999_999,
	/**
	 * What states inside a Parallel or a Map have told that is taken in one transaction: how many, the characters of the frames that they write and of what the
	 * history says of them as JSON, and frames and tallies.
	 */
	runEventsTogether: 40,
	runCharactersTogether: 16_384,
	runPartsTogether: 60,
	/** What a state of a run has told, or called, and what was not taken or could not be said, is told or called again after so long. */
	runAgainMs: 1_000,
	/** So long it waits for what it has called, and then asks again for the same attempt: timers can be no longer. */
	runCallMs: 2_000_000_000,
	/** Of a state inside a Parallel or a Map the history has an input or an output up to so many bytes. */
	runHistoryInputBytes: 4_096,
	/** Records of the history of one run, and their bytes as JSON: what comes after them is not told any more, but for its end. */
	runHistoryRecords: 100_000,
	runHistoryBytes: 67_108_864,
	/** Names of states under way that the status of a run has. */
	runAtStates: 20,
	/** Functions of which a run writes down the version with which it began. */
	runFunctions: 100,
	/** Files with histories of runs that are over, of one server: looked at after so many more; and when it is tried again to write one. */
	runArchiveBytes: 1_073_741_824,
	runArchiveSweep: 1_000,
	runArchiveAgainMs: 60_000,
	/** States under way that one look at a run shows; records of its history in one answer, and their bytes, of the first one aside. */
	runStates: 1_000,
	runHistoryPage: 1_000,
	runHistoryPageBytes: 1_048_576,
	/** Of a run that is described: records of its history that are read, lines of its path, states under way and errors; states of a workflow. */
	runRecordsRead: 2_000,
	runPathLines: 100,
	runStatesShown: 40,
	runErrorsShown: 5,
	workflowStatesShown: 200,
	/** Runs that are asked for at once to be counted. */
	runsCounted: 500,
	/** Records of its history that a graph is drawn of, and in which `retry` looks for a state, the last ones. */
	runGraphRecords: 20_000,
	runRetryRecords: 20_000,
	/** By what an answer names its task: the name of a state, a key, a token. */
	taskNameCharacters: 4_096,
	/** Older definitions of a workflow that are kept though no run goes by them. */
	workflowRevisions: 10,
	/** Runs of one workflow that are not over: no further one is made. */
	workflowRunsUnderWay: 10_000,
	/** Runs that are being made because of triggers: of one workflow, and what all of them begin with together. */
	workflowStarts: 1_000,
	workflowStartsBytes: 67_108_864,
	/** A run for a time or a change that cannot be made just now is tried for so long. */
	workflowStartMs: 60_000,
	/** Workflows because of whose runs one begins, one because of another; and owners of an object that are looked at to find that out. */
	workflowCauses: 32,
	workflowOwners: 64,
	/** A run is deleted so long after its end where nothing else is said. */
	runTtlSeconds: 604_800,
	/** Cases of a file of mocks, what the run of one does, how much of its path is kept, and how many lines are shown. */
	workflowTestCases: 200,
	workflowTestSteps: 200_000,
	workflowTestEntries: 2_000,
	workflowTestLines: 200,
	/** What a Task says that it calls. */
	workflowResourceCharacters: 2_048,
	/** Tasks of all runs that are being called at once: more wait for their turn. What somebody else answers, a run, a Job or a token, is not called. */
	workflowTasks: 5_000,
	/** Questions for the outcome of one attempt that are answered: of more, those that were asked last. */
	workflowTaskAskers: 8,
	/** A call that nobody could begin is made again after so long, doubling, and the longest pause. */
	workflowTaskPauseMs: 200,
	workflowTaskPauseMostMs: 10_000,
	/** How often it is tried to end what a task has begun, and nobody waits for any more. */
	workflowTaskStops: 8,
	/** A run or a Job of a task that is refused since there is no room, for as many are under way as may, is asked for so long. */
	workflowRoomMs: 900_000,
	/** Runs that are tasks of runs, in one another; those that come from one run, under way at once and in all, as long as they are kept. */
	workflowNesting: 10,
	workflowFamilyUnderWay: 1_000,
	workflowFamily: 20_000,
	/** Hosts that workflows may call over HTTP, and what one such call may take, whatever its state allows. */
	workflowHttpHosts: 100,
	workflowHttpMs: 900_000,

	/** Login nodes that the ClusterConfig lists. */
	slurmHosts: 100,
	/** Characters of a path in the folder of a SlurmJob. */
	slurmFileCharacters: 255,
	/** Jobs of one array, and how long one may be given. */
	slurmArrayJobs: 1_000,
	slurmTimeLimitMs: 31_622_400_000,
	/** What of a SlurmJob is fetched: patterns and files, and bytes of one file and of all. */
	slurmResultFiles: 64,
	/** Files that match, of which the names and sizes are asked for. */
	slurmFoundFiles: 1_000,
	slurmResultFileBytes: 67_108_864,
	slurmResultsBytes: 268_435_456,
	/** How long the cluster keeps it. */
	slurmResultKeepMs: 604_800_000,
	/** A login node has so long to take a connection, and to answer what is not a program of the user's. */
	slurmConnectMs: 20_000,
	slurmCommandMs: 60_000,
	/** Programs of one connection at once, below the ten that OpenSSH allows; and what is read of what one says. */
	slurmCommands: 6,
	slurmOutputBytes: 4_194_304,
	/** Jobs, those of arrays each for itself, that one look at the queue is about: what it says has room in what is read. */
	slurmLookJobs: 10_000,
	/** What a compiler may take. */
	slurmCompileMs: 3_600_000,
	/** The first pause between two looks at jobs, and between two tries at a login node that does not answer; doubling, and the longest. */
	slurmPauseMs: 1_000,
	slurmPauseMostMs: 30_000,
	/** Pause after a login or a key of a host was refused for a job that Slurm has already. */
	slurmRefusedPauseMs: 300_000,
	/** A connection that nothing uses is kept so long. */
	slurmIdleMs: 60_000,
	/** Characters that a message has of what a program said. */
	slurmSaidCharacters: 500,
	/** How often output that is followed is looked at. */
	slurmLogPauseMs: 500,
	/** Pieces of such output that are kept for those who follow it, too, until the next look. */
	slurmSharedReadings: 64,
	/** A SlurmJob that is deleted waits so long for its end at the login node. */
	slurmDeleteSeconds: 120,
	/** Files that are written to one login node at once. */
	slurmTransfers: 4,

	/** Grace of a pod that names none. */
	terminationGraceSeconds: 30,
} as const;
