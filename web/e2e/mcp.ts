// A client of MCP (2026-07-28) that takes tasks, and listens for other tools.
const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'page-test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

export class McpClient {
  /** What it was told without having asked: the methods. */
  readonly heard: string[] = [];
  private readonly end = new AbortController();
  private constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /** One that listens from the moment that it is there. */
  static async connect(url: string, token: string): Promise<McpClient> {
    const client = new McpClient(url + '/mcp', token);
    const answer = await client.send('subscriptions/listen', { notifications: { toolsListChanged: true } });
    if (!answer.ok) throw new Error(`nobody may listen: ${answer.status} ${await answer.text()}`);
    void client.follow(answer);
    return client;
  }

  private send(method: string, params: Record<string, unknown>): Promise<Response> {
    const name = params.name ?? params.taskId;
    const headers = {
      authorization: `Bearer ${this.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } });
    return fetch(this.url, { method: 'POST', headers, body, signal: this.end.signal });
  }

  private async follow(answer: Response): Promise<void> {
    let left = '';
    try {
      for await (const bytes of answer.body!.pipeThrough(new TextDecoderStream())) {
        const lines = (left + bytes).split('\n');
        left = lines.pop()!;
        for (const line of lines) if (line.startsWith('data: {')) this.heard.push(JSON.parse(line.slice(6)).method);
      }
    } catch (error) {
      if (!this.end.signal.aborted) throw error;
    }
  }

  async ask(method: string, params: Record<string, unknown> = {}): Promise<any> {
    const text = await (await this.send(method, params)).text();
    const event = text.split('\n').findLast(line => line.startsWith('data: {'));
    const { result, error } = JSON.parse(event ? event.slice(6) : text);
    if (error) throw new Error(JSON.stringify(error));
    return result;
  }

  /** The names of the tools that there are. */
  async tools(): Promise<string[]> {
    return ((await this.ask('tools/list')) as { tools: { name: string }[] }).tools.map(tool => tool.name);
  }

  stop(): void {
    this.end.abort();
  }
}
