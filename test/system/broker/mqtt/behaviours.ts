// MQTT 3.1.1 at the embedded broker: each situation with the clauses of the specification it is about, and whether they are
// kept. Each row has a test of its own in the file of its group, kept or not, and a row in docs/mqtt.md.

export type Behaviour = {
	/** Of the specification's list of conformance statements, or a section where there is none. */
	readonly clause: string;
	/** True, or what happens instead and why. */
	readonly kept: true | string;
};

const kept = (clause: string): Behaviour => ({clause, kept: true});
const not = (clause: string, why: string): Behaviour => ({clause, kept: why});

export const behaviours = {
	connect: {
		'a login is answered with CONNACK 0 before anything else': kept('3.2.0-1, 3.1.4-4'),
		'a login with another password or an unknown name gets CONNACK 4, without one CONNACK 5, and the connection ends':
			kept('3.1.4, 3.2.2-4, 3.2.2-5'),
		'a protocol name that is not MQTT ends the connection': kept('3.1.2-1'),
		'a protocol level of another version gets CONNACK 1 and the end': kept('3.1.2-2'),
		'MQTT 3.1 (MQIsdp, level 3) is served as well': kept('3.1.2-1'),
		'a first packet that is not CONNECT ends the connection': kept('3.1.0-1'),
		'a second CONNECT ends the connection': kept('3.1.0-2'),
		'the reserved flag of CONNECT must be 0': kept('3.1.2-3'),
		'a will QoS or retain flag without a will ends the connection': kept('3.1.2-11, 3.1.2-13, 3.1.2-15'),
		'a will QoS of 3 ends the connection': kept('3.1.2-14'),
		'a password without a user name ends the connection': kept('3.1.2-22'),
		'a CONNECT that ends early, or with a field that does not fit, ends the connection': kept('3.1.4-1'),
		'client ids of 1 to 23 letters and digits are taken': kept('3.1.3-5'),
		'a client id of zero length gets a name of its own with clean session 1': kept('3.1.3-6, 3.1.3-7'),
		'a client id of zero length with clean session 0 is refused: CONNACK 2 and the end': kept('3.1.3-8, 3.1.3-9'),
		'a client id that is too long is refused: CONNACK 2 and the end': kept('3.1.3-9'),
		'packets may follow CONNECT at once, and are answered after CONNACK': kept('3.1.4-4'),
		'what follows a CONNECT that is refused is not processed': kept('3.1.4-5'),
		'a connection without CONNECT is ended after a time': kept('3.1.4'),
		'a login without the right to connect gets CONNACK 5': kept('3.1.4, 3.2.2-5'),
	},
	retained: {
		'a retained message is kept and given to later subscribers with the retain flag': kept('3.3.1-5, 3.3.1-6, 3.3.1-8'),
		'a newer one takes its place': kept('3.3.1-5'),
		'an empty one clears the topic, and live subscribers get it like any other': kept('3.3.1-10, 3.3.1-11'),
		'a live subscriber gets it without the retain flag': kept('3.3.1-9'),
		'a message that is not retained neither replaces nor clears it': kept('3.3.1-12'),
		'the same subscription again brings it again': kept('3.8.4-3'),
		'it comes at the lower of its QoS and the QoS granted': kept('3.8.4-6'),
		'every retained topic that a wildcard matches comes, and no other': kept('3.3.1-6'),
		'to a kept session it comes at QoS 0': not(
			'3.8.4-6',
			'it would be queued as well and come twice; what is retained is there at the next subscription',
		),
		'what finds no room is delivered and not kept': not(
			'3.3.1-5',
			'retained messages of clients are bounded, in all and for each login; each that found no room is counted',
		),
		'it is gone when the broker starts again': not(
			'3.3.1-5',
			'held in memory: objects are served from the index, presence is said again by each agent as it connects',
		),
	},
	will: {
		'it is published when the socket breaks': kept('3.1.2-8'),
		'it is published when the keep-alive time is over': kept('3.1.2-8, 3.1.2-24'),
		'it is published when the client breaks the protocol': kept('3.1.2-8'),
		'it is not published after DISCONNECT': kept('3.1.2-10, 3.14.4-3'),
		'it is published when another connection takes the client id over': kept('3.1.2-8, 3.1.4-2'),
		'it is retained if its flag says so, else not': kept('3.1.2-16, 3.1.2-17'),
		'it has its QoS': kept('3.1.2-14'),
		'one with an empty message clears a retained topic': kept('3.1.2-17, 3.3.1-10'),
		'one on a topic that may not be published to is refused with the login: CONNACK 5': kept('3.1.4, 3.2.2-5'),
	},
	subscribe: {
		'SUBACK has the packet id and a code for each filter, in order': kept('3.8.4-1, 3.8.4-2, 3.8.4-5, 3.9.3-1'),
		'a message comes at the lower of its QoS and the QoS granted, also under a wildcard': kept('3.8.4-6'),
		'overlapping filters: one delivery, at the highest QoS granted': kept('3.3.5-1'),
		'a subscription to the same filter replaces the QoS and is not interrupted': kept('3.8.4-3'),
		'several filters in one packet are as several packets': kept('3.8.4-4'),
		'a filter named twice in one packet gets one code': not(
			'3.8.4-5',
			'the parser hands on one subscription per filter; both codes would be the last one granted',
		),
		'a filter that may not be read is refused: 128, and the others of the packet stand': kept('3.8.4-5'),
		'SUBSCRIBE without a filter, with QoS 3, with reserved bits or other flags ends the connection': kept('3.8.1-1, 3.8.3-3, 3.8.3-4'),
		'more filters than one connection may hold are refused: 128': kept('3.8.4-5'),
		'what a client publishes comes back to it, if it subscribes to it': kept('3.3.5-1'),
	},
	filters: {
		'# matches what follows and the level above': kept('4.7.1-2'),
		'+ is one level, also an empty one': kept('4.7.1-3'),
		'a slash at the front or at the end makes a level of its own': kept('4.7.3'),
		'# must be the last level and alone in it, + alone in its level: others end the connection or are refused': kept('4.7.1-2, 4.7.1-3'),
		'upper and lower case are different, and blanks count': kept('4.7.3-4'),
		'a wildcard at the front does not match topics that begin with $': kept('4.7.2-1'),
		'nobody may subscribe to topics that begin with $: 128': kept('4.7.2'),
		'what a client publishes to a topic that begins with $ is heard by nobody': kept('4.7.2'),
		'filters and topics of more than 16 levels are refused': not(
			'4.7.3',
			'a bound on what one message costs; the topics of Troupe have 8 levels at most, paths of actors aside',
		),
	},
	unsubscribe: {
		'UNSUBACK has the packet id, and no further message comes': kept('3.10.4-2, 3.10.4-4'),
		'filters are compared by character: another one that matches the same stays': kept('3.10.4-1'),
		'a filter that was not subscribed is acknowledged as well': kept('3.10.4-5'),
		'several filters in one packet are all taken back, with one UNSUBACK': kept('3.10.4-6'),
		'a filter that is taken back and asked for again at once is subscribed, also in a kept session': kept('3.8.4-3, 3.10.4-6'),
		'what is published right behind UNSUBSCRIBE does not come': kept('3.10.4-2'),
		'a filter that is asked for and taken back over and over in one breath is taken back': kept('3.10.4-2, 4.6'),
		'UNSUBSCRIBE without a filter, or with other flags, ends the connection': kept('3.10.1-1, 3.10.3-2'),
	},
	session: {
		'clean session 1 leaves nothing behind': kept('3.1.2-6, 3.2.2-1'),
		'clean session 0 is there again, and CONNACK says so': kept('3.1.2-4, 3.1.2-5, 3.2.2-2'),
		'CONNACK says that there was none': kept('3.2.2-3'),
		'messages of QoS 1 and 2 wait for a client that is away, in order; QoS 0 does not': kept('3.1.2-5, 4.5.0-1'),
		'what was not acknowledged is sent again with its packet id and the duplicate flag': kept('3.3.1-1, 4.4.0-1'),
		'a PUBREL that was not answered is sent again': kept('4.4.0-1'),
		'clean session 1 ends what clean session 0 kept': kept('3.1.2-6'),
		'a connection with the same client id ends the older one': kept('3.1.4-2'),
		'another login with the same client id is refused: CONNACK 2': not(
			'3.1.4-2',
			'nobody takes over a connection, or gets the queue, of another login',
		),
		'a queue beyond its bound drops what comes last': not('4.5.0-1', 'queues are bounded by count and bytes; what is dropped is counted'),
		'it is gone when the broker starts again': not('3.1.2-4', 'held in memory; nothing of Troupe itself keeps a session'),
	},
	qos: {
		'QoS 0 is answered by nothing': kept('4.3.1-1'),
		'QoS 1 is answered with PUBACK and its packet id': kept('4.3.2-2, 2.3.1-6'),
		'QoS 1 a second time is a new message, whatever its duplicate flag says': kept('4.3.2-2'),
		'QoS 2: PUBREC, PUBREL, PUBCOMP, and one delivery': kept('4.3.3-2'),
		'QoS 2 a second time before PUBREL is answered and not delivered again': kept('4.3.3-2'),
		'after PUBCOMP the packet id is a new message': kept('4.3.3-2, 2.3.1-4'),
		'a PUBREL that nobody waits for is answered with PUBCOMP': kept('4.3.3-2'),
		'the broker sends QoS 1 and 2 with packet ids of its own and goes on after PUBREC': kept('2.3.1-1, 4.3.3-1'),
		'the duplicate flag of a publisher is not handed on': kept('3.3.1-3'),
		'a packet id of 0 in PUBLISH ends the connection': kept('2.3.1-1'),
		'a packet id of 0 in SUBSCRIBE and UNSUBSCRIBE is answered': not('2.3.1-1', 'it harms nobody: the answer says 0 as well'),
		'QoS 3 ends the connection': kept('3.3.1-4'),
		'messages of one publisher and QoS arrive in order': kept('4.6.0-5, 4.6.0-6'),
		'more than 1,000 messages of QoS 2 without PUBREL end the connection': not('4.3.3-2', 'what is remembered of one client is bounded'),
		'a publish that is not allowed is acknowledged and heard by nobody': kept('3.3.5-2'),
	},
	topics: {
		'a topic with a wildcard ends the connection': kept('3.3.2-2'),
		'an empty topic ends the connection': kept('4.7.3-1'),
		'a NUL in a topic or a filter ends the connection': kept('1.5.3-2, 4.7.3-2'),
		'a text that is not UTF-8 ends the connection': kept('1.5.3-1'),
		'the character U+FFFD ends the connection as well': not(
			'1.5.3-1',
			'the parser puts it in place of what is not UTF-8, so the two look alike',
		),
		'a byte order mark is a character like any other': kept('1.5.3-3'),
		'a payload may be empty, and any bytes': kept('3.3.3'),
		'a packet of just 1.5 MiB passes, a larger one ends the connection by its header': not(
			'2.2.3',
			'what one client can make the broker hold is bounded; the protocol would allow 256 MiB',
		),
		'a remaining length of more than four bytes ends the connection': kept('2.2.3'),
		'a packet type that only servers send, or none, ends the connection': kept('2.2.1, 4.8.0-1'),
		'reserved bits of the fixed header end the connection': kept('2.2.2-1, 2.2.2-2'),
	},
	alive: {
		'PINGREQ is answered with PINGRESP': kept('3.12.4-1'),
		'a client that is silent for one and a half times its keep-alive is cut; with 0 it is not': kept('3.1.2-24'),
		'any packet counts as a sign of life': kept('3.1.2-23'),
		'DISCONNECT ends the connection from the broker’s side as well': kept('3.14.4-1, 3.14.4-2'),
		'DISCONNECT with reserved bits ends it as a violation: the will is published': kept('3.14.1-1'),
	},
} as const satisfies Readonly<Record<string, Readonly<Record<string, Behaviour>>>>;

export type Group = keyof typeof behaviours;
