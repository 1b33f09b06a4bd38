"""The embedded model: a small model on this machine behind OpenAI's chat completions, for recording without a service.

``python -m seatrial.model_server serve`` starts it, ``… fetch`` gets its weights. It knows no agent: what a request
says about its tools is all that it goes by. The runtime (`xllamacpp`) and the weights are not in the project's lock;
nothing but a recording needs them.
"""
