// A model that says what a test wants: the API of chat completions, streamed.
import { createServer, type Server as Http, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Said = string | { name: string; arguments: unknown }[];
/** A turn; `holds`: it stops in the middle until it is let go on. */
export interface ScriptedTurn {
  says: Said;
  holds?: Promise<void>;
}

export class ScriptedModel {
  /** What it was asked, request by request. */
  readonly asked: any[] = [];
  private constructor(
    private readonly http: Http,
    readonly url: string,
  ) {}

  static async start(turns: (Said | ScriptedTurn)[]): Promise<ScriptedModel> {
    const http = createServer((request, answer) => {
      let body = '';
      request.on('data', piece => (body += piece));
      request.on('end', () => {
        model.asked.push(JSON.parse(body));
        const turn = turns[model.asked.length - 1] ?? 'I have no more to say.';
        const { says, holds }: ScriptedTurn = typeof turn === 'string' || Array.isArray(turn) ? { says: turn } : turn;
        void model.tell(answer, says, holds);
      });
    });
    await new Promise<void>(done => http.listen(0, '127.0.0.1', done));
    const model = new ScriptedModel(http, `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`);
    return model;
  }

  private async tell(answer: ServerResponse, says: Said, holds?: Promise<void>): Promise<void> {
    answer.setHeader('content-type', 'text/event-stream');
    const chunk = (delta: object, finish_reason: string | null = null) =>
      answer.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    if (typeof says === 'string') {
      const pieces = says.match(/[^ ]* ?/g) ?? [];
      const half = Math.ceil(pieces.length / 2);
      for (const [index, content] of pieces.entries()) {
        if (index === half) await holds;
        chunk({ content });
      }
      chunk({}, 'stop');
    } else {
      const tool_calls = says.map(({ name, arguments: given }, index) => ({ index, id: `call_${this.asked.length}_${index}`, type: 'function', function: { name, arguments: JSON.stringify(given) } }));
      chunk({ tool_calls });
      chunk({}, 'tool_calls');
    }
    const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
    answer.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`);
    answer.end('data: [DONE]\n\n');
  }

  stop(): void {
    this.http.closeAllConnections();
    this.http.close();
  }
}
