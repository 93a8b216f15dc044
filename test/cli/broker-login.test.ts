import test from 'ava';
import {brokerLoginOf} from '../../cli/cluster/broker-login.js';
import type {Connection} from '../../cli/cluster/kubeconfig.js';

const connection: Connection = {
	file: '/k',
	server: new URL('https://10.0.0.1:6443'),
	others: [new URL('https://h.example')],
	ca: 'PEM',
	trustAnyone: false,
	token: 'secret',
	clientCertificate: undefined,
	clientKey: undefined,
	namespace: 'default',
};

const saying = (broker: string | null) => ({json: () => Promise.resolve({login: 'ann', role: 'edit', broker})});

test("the API's own port speaks MQTT, on each server", async t => {
	t.deepEqual(await brokerLoginOf(connection, saying(null)), {
		urls: ['mqtts://10.0.0.1:6443', 'mqtts://h.example:443'],
		login: 'ann',
		role: 'edit',
		password: 'secret',
		ca: 'PEM',
		trustAnyone: false,
	});
});

test('a broker elsewhere shows a certificate of its own', async t => {
	const {urls, ca} = await brokerLoginOf(connection, saying('mqtts://broker:8883'));
	t.deepEqual([urls, ca], [['mqtts://broker:8883'], undefined]);
});

test('without a token, or without TLS, there is no way in', async t => {
	await t.throwsAsync(brokerLoginOf({...connection, token: undefined}, saying(null)), {
		message: '/k has no token, and MQTT takes no other login',
	});
	const plain = {...connection, server: new URL('http://127.0.0.1:8001'), others: []};
	await t.throwsAsync(brokerLoginOf(plain, saying(null)), {message: /speaks no TLS/});
});
