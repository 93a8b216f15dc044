// `node endpoint-program.js PORT NAME`, on a host: asks its node's data plane, by its resolver on that port of 127.0.0.1, for the endpoints of a
// headless Service, again and again, and says in a line when they are others than before: `[time, [address, ...]]`, the time in milliseconds
// of the clock that all processes of a machine share. It ends with its input.

import {createSocket} from 'node:dgram';
import {decode, encode, type OptAnswer} from 'dns-packet';

const [, , port = '', name = ''] = process.argv;
/** How exact a time is. */
const everyMs = 2;
/** Of an answer that does not come. */
const patienceMs = 100;

/** So that many addresses have room in one datagram. */
const option: OptAnswer = {
	type: 'OPT',
	name: '.',
	udpPayloadSize: 1_232,
	extendedRcode: 0,
	ednsVersion: 0,
	flags: 0,
	flag_do: false,
	options: [],
};

const socket = createSocket('udp4');
let id = 0;
let before = '';
let timer: NodeJS.Timeout | undefined;

function ask(): void {
	id = (id + 1) % 65_536;
	const query = encode({type: 'query', id, flags: 0x100, questions: [{type: 'A', name, class: 'IN'}], additionals: [option]});
	socket.send(query, Number(port), '127.0.0.1', () => undefined);
	timer = setTimeout(ask, patienceMs);
}

socket.on('error', () => undefined);
socket.on('message', data => {
	const answer = decode(data);
	if (answer.id !== id) return;
	clearTimeout(timer);
	if (answer.flag_tc) throw new Error('there are too many endpoints for one datagram');
	const addresses = (answer.answers ?? []).flatMap(each => (each.type === 'A' ? [each.data] : [])).sort();
	if (addresses.join() !== before || id === 1) {
		before = addresses.join();
		process.stdout.write(`${JSON.stringify([Number(process.hrtime.bigint()) / 1e6, addresses])}\n`);
	}
	timer = setTimeout(ask, everyMs);
});
process.stdin.resume().on('end', () => process.exit());
ask();
