// What the operator of an external broker asks the control plane for: the files of a Mosquitto.

/** `GET`, with `folder`, and `host` and `port` where the broker listens elsewhere than `--broker` says. */
export const brokerConfigPath = '/troupe/v1/broker-config';

/** Where the broker finds its files, unless a flag says otherwise. */
export const brokerFolder = '/etc/mosquitto/troupe';

export const brokerFileNames = {
	conf: 'mosquitto.conf',
	acl: 'acl',
	passwords: 'passwords',
	/** Of the broker's TLS; the operator puts them there. */
	certificate: 'cert.pem',
	key: 'key.pem',
} as const;

/** In the first line of each file that is made, so that it is known again. */
export const brokerFileMark = 'Made by `troupe broker config`.';

export type BrokerConfigAnswer = {
	readonly conf: string;
	readonly acl: string;
	readonly passwords: string;
	/** Whether certificate and key have to be there. */
	readonly tls: boolean;
	/** Where no `--broker` has one yet: made for this answer, and the only time it is seen. */
	readonly controlPassword?: string;
};
