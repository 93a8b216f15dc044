// How exec and attach speak over a WebSocket: binary messages whose first byte says of which stream the rest is, as Kubernetes'
// `v5.channel.k8s.io` has it. Source: k8s.io/apimachinery, pkg/util/remotecommand/constants.go.

export const remoteProtocol = 'v5.channel.k8s.io';

export const channels = {
	stdin: 0,
	stdout: 1,
	stderr: 2,
	/** A Status: how it ended. */
	status: 3,
	/** `{"Width": columns, "Height": rows}`. */
	resize: 4,
	/** The byte that follows is a channel on which no more comes. */
	close: 255,
} as const;

/** A message of a channel. */
export function framed(channel: number, bytes: Uint8Array): Uint8Array {
	const frame = new Uint8Array(bytes.length + 1);
	frame[0] = channel;
	frame.set(bytes, 1);
	return frame;
}
